/*
 * Reads the start of a pprof file that prof has written: its time, and the
 * segments that were merged into it. It does not read the rest, so it is fast.
 */
#ifndef PROF_FORMAT_PPROF_HEAD_H
#define PROF_FORMAT_PPROF_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* More than a merged file has: one segment per second of an hour. */
enum { PPROF_SEGMENTS_MAX = 3600 };

struct pprof_head {
	uint64_t start_unix_ns, duration_ns;
	/*
	 * The Unix time in seconds at which each segment starts, ascending.
	 * Empty if the file was not merged.
	 */
	uint64_t *segments;
	size_t segment_count;
};

/*
 * Reads from the start of a compressed file. The caller frees ret->segments.
 * Returns false if the start does not contain the facts, as in files of other
 * programs.
 */
bool pprof_head_read(FILE *in, struct pprof_head *ret);

#endif
