/*
 * Names every distinct frame of a profile once: at the end, with all CPUs at work, or again and
 * again while the profile grows.
 *
 * The order of sources for a user frame: Go's own table of functions, DWARF inline chain, .symtab,
 * .dynsym and .gnu_debugdata, perf-PID.map. The outermost line of a frame takes the ELF symbol's
 * name where there is one, so that clones (.cold, .isra) show as such; but where the linker has
 * folded several functions into one, the name whose lines these are. A caller's frame is looked up
 * at its address - 1. Frames that nothing names stay without lines. A module that cannot be read
 * costs its names and one problem in the outcome.
 */
#ifndef PROF_SYMBOL_SYMBOLIZER_H
#define PROF_SYMBOL_SYMBOLIZER_H

#include "proc/space.h"
#include "profile/profile.h"

#include <stdatomic.h>

struct symbolize_options {
	const char *debug_dir; /* "/usr/lib/debug" */
	const char *proc; /* "/proc": kallsyms, perf-PID.map through PID/root; NULL: the kernel and
			     the processes were others */
	unsigned threads; /* 0: one a CPU */
	bool inlines;	  /* false: physical functions only, without lines */
	bool again;	  /* symbolizer_run() will be called more than once */
	const atomic_bool
		*cancel;   /* set: stop naming soon, leave the rest as addresses; may be NULL */
	atomic_uint *done; /* modules and units finished so far, for progress; may be NULL */
	/* With one thread: called after each module and unit. The profile may get more frames then,
	 * which are left for the next run. NULL: nothing. */
	void (*between)(void *user);
	void *user;
};

/* A module whose names are missing or poor, for the summary. */
struct symbolize_problem {
	uint32_t module;
	char *text; /* one sentence */
};

struct symbolize_outcome {
	struct symbolize_problem *problems; /* at most one a module */
	size_t problem_count;
	bool cancelled;
};

/* Frames of module N of the profile belong to module N of spaces. */
void symbolize(struct profile *profile, struct spaces *spaces,
	       const struct symbolize_options *options, struct symbolize_outcome *ret);

/*
 * The same for a profile that goes on growing: each run names the frames that have come since the
 * one before, and files stay open in between. Borrows all of them.
 */
struct symbolizer;

struct symbolizer *symbolizer_new(struct profile *profile, const struct spaces *spaces,
				  const struct symbolize_options *options);
void symbolizer_free(struct symbolizer *symbolizer);
DEFINE_CLEANUP(symbolizer, symbolizer_free)
void symbolizer_run(struct symbolizer *symbolizer, struct symbolize_outcome *ret);

void symbolize_outcome_deinit(struct symbolize_outcome *outcome);

#endif
