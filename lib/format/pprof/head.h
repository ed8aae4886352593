/*
 * What the beginning of a pprof file tells, if prof has written it: its time, and the segments that
 * it was merged of. Reads no more than the beginning, in some 20 µs.
 */
#ifndef PROF_FORMAT_PPROF_HEAD_H
#define PROF_FORMAT_PPROF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* More than a merged file has: an hour of seconds. */
enum { PPROF_SEGMENTS_MAX = 3600 };

struct pprof_head {
	uint64_t start_unix_ns, duration_ns;
	/* The segments, by the second of Unix time in which each begins, ascending. None: the file
	 * was not merged. */
	uint64_t *segments;
	size_t segment_count;
};

/*
 * From the beginning of a compressed file. The caller frees ret->segments. False: the beginning
 * does not tell, as in files of other programs.
 */
bool pprof_head_read(FILE *in, struct pprof_head *ret);

#endif
