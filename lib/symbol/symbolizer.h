/*
 * Symbolizes each distinct frame of a profile once: at the end of a recording,
 * on all CPUs, or repeatedly while the profile grows.
 *
 * Unprivileged processes read the files (worker_pools.h). A malicious file can
 * falsify its own symbols and those of its owner's other files, but nothing
 * else.
 *
 * An engine (engine.h) symbolizes frames of files. Frames of JIT code get their
 * symbols from a jitdump or perf-PID.map, and frames of the kernel from the
 * running kernel or the recording. Return addresses are looked up at their
 * address - 1. A function has the same name whether it is inlined or not
 * (name_aliases.h). Frames without a symbol have no lines. If a module cannot
 * be read, its frames have no symbols, and the outcome has a problem for it.
 */
#ifndef PROF_SYMBOL_SYMBOLIZER_H
#define PROF_SYMBOL_SYMBOLIZER_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/fetcher.h"
#include "symbol/name_sources.h"
#include "symbol/symbol_options.h"
#include "symbol/worker_pools.h"

#include <stdatomic.h>

struct symbolize_options {
	/*
	 * "/proc", for kallsyms and perf-PID.map. NULL if the recording is from
	 * another machine or boot.
	 */
	const char *proc;
	unsigned threads; /* 0 for one per CPU */
	struct symbol_options symbols;
	bool again; /* symbolizer_run() is called more than once */
	/*
	 * Another thread or a signal handler sets it to end symbolization
	 * early. The remaining frames stay addresses. May be NULL.
	 */
	const atomic_bool *cancel;
	/*
	 * Number of modules, symbol tables and units finished so far. May be
	 * NULL.
	 */
	atomic_uint *done;
	/*
	 * Called every few milliseconds. It may add frames to the profile,
	 * which are symbolized in the next run. May be NULL.
	 */
	void (*between)(void *user);
	void *user;
	/* The user who runs prof as root (sudo). 0 if unknown. */
	uid_t caller;
	/*
	 * Reads the files in this process, without workers. Only for fuzzers.
	 * `between` is then called only if there is one thread.
	 */
	bool in_process;
	struct worker_pools_limits limits; /* zero for the defaults */
	/* Uses the cache of the user (symbol_cache.h). Not with in_process. */
	bool caches;
	/*
	 * Fetches missing debug files, after all files of this machine have
	 * been read and before the profile gets names. Zero if there is no
	 * fetcher. Not used with in_process. A malicious fetched file can
	 * falsify only the names of modules with fetched files.
	 */
	struct fetcher fetcher;
};

/* A module whose symbols are missing or incomplete, for the summary. */
struct symbolize_problem {
	uint32_t module;
	/* One sentence: what is missing and how to get it. */
	char *text;
	/* Only the part that describes what is missing, or NULL. */
	char *fact;
};

/* The symbol sources of a module and their result. */
struct symbolized_module {
	uint32_t module;
	bool is_read; /* if false, a problem describes the reason */
	struct name_sources sources;
	char *debug_file; /* owns the string in `sources` */
	size_t frames;	  /* number of frames that were looked up */
	size_t unnamed;	  /* number of these without a name */
	size_t lineless;  /* number of these with a name, but without a line */
};

struct symbolize_outcome {
	/* Modules that had frames to symbolize, in ascending order. */
	struct symbolized_module *modules;
	size_t module_count;
	struct symbolize_problem *problems; /* at most one per module */
	size_t problem_count;
	bool cancelled;
	struct worker_cost worker_cost; /* of the workers, the total of all runs so far */
};

/*
 * Symbolizes a complete profile. Modules must have the same numbers in the
 * profile and in `spaces`.
 */
void symbolize(struct profile *profile, struct address_spaces *spaces,
	       const struct symbolize_options *options, struct symbolize_outcome *ret);

/*
 * Symbolizes a growing profile. Each run symbolizes the frames that are new
 * since the previous run, and files stay open between runs. Borrows its
 * arguments.
 */
struct symbolizer;

struct symbolizer *symbolizer_new(struct profile *profile, struct address_spaces *spaces,
				  const struct symbolize_options *options);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(symbolizer, symbolizer_free)
/* Sets the fetcher of symbolize_options from the next run on. */
void symbolizer_set_fetcher(struct symbolizer *symbolizer, const struct fetcher *fetcher);
/* Sets the profile of the next run. Its modules must have the same numbers. */
void symbolizer_set_profile(struct symbolizer *symbolizer, struct profile *profile);
void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret);
/* Returns the cost of the workers so far. */
struct worker_cost symbolizer_cost(const struct symbolizer *symbolizer);

void symbolize_outcome_deinit(struct symbolize_outcome *outcome);

#endif
