/*
 * Selects the samples to omit: those of prof itself and of its forked children
 * that execute no program, and those of threads whose names do not match.
 */
#ifndef PROF_RECORD_SAMPLE_FILTER_H
#define PROF_RECORD_SAMPLE_FILTER_H

#include "perf/record.h"
#include "proc/names.h"

#include <stddef.h>

struct sample_filter_counts {
	uint64_t own;	  /* omitted samples of prof */
	uint64_t threads; /* omitted samples of other threads */
};

struct sample_filter {
	char *const
		*threads; /* globs for thread names; borrowed; an empty list selects all threads */
	size_t thread_count;
	bool keeps_own;
	pid_t *own; /* prof's processes */
	size_t own_count, own_room;
	struct sample_filter_counts counts;
};

void sample_filter_init(struct sample_filter *filter, char *const *threads, size_t thread_count,
			bool keeps_own);
void sample_filter_deinit(struct sample_filter *filter);

/* Whether the record is kept. Must be called for every record in time order,
 * with the names at the time of the record. */
bool sample_filter_takes(struct sample_filter *filter, struct names *names,
			 const struct record *record);

#endif
