/*
 * Which samples are left out of the profile: those of prof itself, with the processes that it has
 * forked and that execute no program; and those of threads whose names do not match.
 */
#ifndef PROF_RECORD_SAMPLE_FILTER_H
#define PROF_RECORD_SAMPLE_FILTER_H

#include "perf/record.h"
#include "proc/names.h"

#include <stddef.h>

struct sample_filter_counts {
	uint64_t own;	  /* samples of prof */
	uint64_t threads; /* of other threads than those that are wanted */
};

struct sample_filter {
	char *const *threads; /* globs of threads' names, borrowed; none: all */
	size_t thread_count;
	bool keeps_own;
	pid_t *own; /* prof's processes */
	size_t own_count, own_room;
	struct sample_filter_counts counts;
};

void sample_filter_init(struct sample_filter *filter, char *const *threads, size_t thread_count,
			bool keeps_own);
void sample_filter_deinit(struct sample_filter *filter);

/* To be called for every record, in time order. names: as they are at the time of the record. */
bool sample_filter_takes(struct sample_filter *filter, struct names *names,
			 const struct record *record);

#endif
