/* The options of pprof profiles. */
#ifndef PROF_FORMAT_PPROF_OPTIONS_H
#define PROF_FORMAT_PPROF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pprof_options {
	bool times; /* include the times of samples, rounded to 1 ms */
	bool small; /* as few bytes as possible, however long that takes */
	/*
	 * The segments that the profile was merged from: the Unix time in
	 * seconds at which each starts, ascending (head.h).
	 */
	const uint64_t *segments;
	size_t segment_count;
};

#endif
