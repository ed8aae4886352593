/*
 * What a recording counted beside its samples (prof record --stat), as perf stat does.
 *
 * As text it is a line, which pprof files hold as a comment:
 *	prof: stat task-clock=1234567890 context-switches=12 page-faults=345
 * Counters that are unknown are missing; unknown names are ignored.
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

/* perf's name of the event, by enum stat_counter; STAT_COUNTERS of them. */
extern const char *const stat_counter_names[];

bool stat_counts_exist(const struct stat_counts *counts);

/* Without the line end, to be freed; "" if nothing was counted. */
char *stat_counts_encode(const struct stat_counts *counts);
/* False, and *ret unchanged: the text is something else. */
bool stat_counts_decode(const char *text, struct stat_counts *ret);

#endif
