/*
 * Reads folded stacks of any producer: one stack per line, frames from root to leaf separated by
 * ';', then a space and a count. Reads them as inferno-flamegraph does:
 *
 *  - Every frame is a function, also the first one, with one exception: prof and perf's
 *    stackcollapse scripts write the name of the process first. A first frame is a process if in
 *    any stack the next frame is a function that nothing calls (_start, clone3, runtime.goexit,
 *    ret_from_fork and others), and if it does not start with '['. A process becomes a label and
 *    is written again as the first frame, so that a file is written as it was read in any case.
 *  - An empty frame, and a stack without frames, is the function [unnamed].
 *  - The fraction of a count is cut off.
 *  - Stacks may come in any order and more than once. Lines may end in CR LF. Empty lines and
 *    comments ("# ...") are ignored. Invalid UTF-8 is replaced.
 *  - A line without a count, with two counts (a difference), or whose count makes the sum of all
 *    exceed FOLDED_TOTAL_MAX, is skipped. profile_info.problems has the number of such lines, and
 *    of fractions. A file of such lines alone is an error.
 *  - Only the last FOLDED_DEPTH_MAX frames of a stack are kept, called by [truncated].
 */
#ifndef PROF_FORMAT_FOLDED_READ_H
#define PROF_FORMAT_FOLDED_READ_H

#include "format/format.h"

enum {
	/* As deep as what prof takes from pprof files. */
	FOLDED_DEPTH_MAX = 1 << 16,
	/* A stack of that depth with names of 1,000 letters. */
	FOLDED_LINE_BYTES_MAX = 64 << 20,
};

/* The largest value of a pprof profile. */
#define FOLDED_TOTAL_MAX ((uint64_t)INT64_MAX)

bool folded_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *folded_read(FILE *in, struct profile *profile);

#endif
