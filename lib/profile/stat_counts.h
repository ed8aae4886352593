/*
 * The counters that a recording reads in addition to its samples (prof record
 * --stat), like perf stat.
 *
 * The text form is one line, which pprof files contain as a comment:
 *	prof: stat task-clock=1234567890 context-switches=12 page-faults=345
 * Unknown counters are omitted. Unknown names are ignored.
 */
#ifndef PROF_PROFILE_STAT_COUNTS_H
#define PROF_PROFILE_STAT_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stat_counter {
	STAT_TASK_CLOCK, /* nanoseconds of CPU time */
	STAT_CONTEXT_SWITCHES,
	STAT_CPU_MIGRATIONS,
	STAT_PAGE_FAULTS,
	STAT_CYCLES,
	STAT_INSTRUCTIONS,
	STAT_BRANCHES,
	STAT_BRANCH_MISSES,
	STAT_COUNTERS,
};

/* Zeroed: nothing was counted. */
struct stat_counts {
	uint64_t values[STAT_COUNTERS];
	bool is_known[STAT_COUNTERS];
};

/* perf's event names by enum stat_counter, with STAT_COUNTERS elements. */
extern const char *const stat_counter_names[];

bool stat_counts_exist(const struct stat_counts *counts);

/*
 * Returns the line without the line end, or "" if nothing was counted. The
 * caller frees it.
 */
char *stat_counts_encode(const struct stat_counts *counts);
/* Returns false and leaves *ret unchanged if the text is something else. */
bool stat_counts_decode(const char *text, struct stat_counts *ret);

#endif
