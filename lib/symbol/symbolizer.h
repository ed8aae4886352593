/*
 * Symbolizes every distinct frame of a profile once: at the end, on all CPUs, or repeatedly while
 * the profile grows.
 *
 * Files are read by processes without rights (crews.h): a file can cost symbols, its own or those
 * of its owner's other files, but neither the profile nor anything else.
 *
 * Frames of files are symbolized by an engine (engine.h says in which order of sources), frames of
 * code compiled at run time from their jitdump or perf-PID.map, frames of the kernel by the kernel
 * or its recording. A caller's frame is looked up at its address - 1. A function has one name,
 * inlined or not (spellings.h). Frames without a symbol stay without lines. A module that cannot be
 * read loses its symbols and adds one problem to the outcome.
 */
#ifndef PROF_SYMBOL_SYMBOLIZER_H
#define PROF_SYMBOL_SYMBOLIZER_H

#include "proc/address_spaces.h"
#include "profile/profile.h"
#include "symbol/crews.h"
#include "symbol/fetcher.h"
#include "symbol/name_sources.h"
#include "symbol/symbol_options.h"

#include <stdatomic.h>

struct symbolize_options {
	const char *proc; /* "/proc": for kallsyms and perf-PID.map; NULL if kernel and processes
			     were of another machine or boot */
	unsigned threads; /* 0: one per CPU */
	struct symbol_options symbols;
	bool again;		   /* symbolizer_run() will be called more than once */
	const atomic_bool *cancel; /* when set, symbolizing stops soon and leaves the rest as
				      addresses; may be NULL */
	atomic_uint *done; /* modules, symbol tables and units finished so far; may be NULL */
	/*
	 * Called every few ms. The profile may get more frames in it, which are left for the next
	 * run. May be NULL.
	 */
	void (*between)(void *user);
	void *user;
	uid_t caller; /* the user for whom root's prof runs (sudo); 0: unknown */
	/*
	 * For fuzzers, whom other processes would only slow down: everything in this process, which
	 * calls `between` with one thread only.
	 */
	bool in_process;
	struct crews_limits limits; /* zero: the defaults */
	/*
	 * Asked for debug files when all that is here was used, and before the profile gets names;
	 * not with in_process. Zero: none. A fetched file can cost names of modules for which files
	 * were fetched, no others.
	 */
	struct fetcher fetcher;
};

/* A module whose symbols are missing or incomplete, for the summary. */
struct symbolize_problem {
	uint32_t module;
	char *text; /* one sentence: what is missing and what brings it … */
	char *fact; /* … and the first of these alone, or NULL */
};

/* What has named a module. */
struct symbolized_module {
	uint32_t module;
	bool is_read; /* else a problem says why not */
	struct name_sources sources;
	char *debug_file; /* of sources */
	size_t frames;	  /* that were looked up … */
	size_t unnamed;	  /* … of which those without a name … */
	size_t lineless;  /* … and those with a name, but without a line */
};

struct symbolize_outcome {
	struct symbolized_module *modules; /* that had frames to symbolize, by module */
	size_t module_count;
	struct symbolize_problem *problems; /* at most one per module */
	size_t problem_count;
	bool cancelled;
	struct worker_cost worker_cost; /* of all runs, of the processes that read files */
};

/* Frames of module N of the profile belong to module N of spaces. */
void symbolize(struct profile *profile, struct address_spaces *spaces,
	       const struct symbolize_options *options, struct symbolize_outcome *ret);

/*
 * The same for a growing profile: each run symbolizes the frames that are new since the last run,
 * and files stay open in between. Borrows its arguments.
 */
struct symbolizer;

struct symbolizer *symbolizer_new(struct profile *profile, struct address_spaces *spaces,
				  const struct symbolize_options *options);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(symbolizer, symbolizer_free)
/* As in symbolize_options, from the next run on. */
void symbolizer_set_fetcher(struct symbolizer *symbolizer, const struct fetcher *fetcher);
/* The next run is of another profile, whose modules have the same numbers. */
void symbolizer_set_profile(struct symbolizer *symbolizer, struct profile *profile);
void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret);
/* Of its workers so far. */
struct worker_cost symbolizer_cost(const struct symbolizer *symbolizer);

void symbolize_outcome_deinit(struct symbolize_outcome *outcome);

#endif
