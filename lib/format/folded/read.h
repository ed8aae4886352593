/*
 * Reads folded stacks of any producer: one stack per line, frames from root to
 * leaf separated by ';', then a space and a count. It reads them like
 * inferno-flamegraph:
 *
 * - Every frame is a function, including the first one, with one exception:
 *   prof and perf's stackcollapse scripts write the name of the process first.
 *   A first frame is a process if the next frame of any stack is a function
 *   without callers (_start, clone3, runtime.goexit, ret_from_fork and others),
 *   and if it does not start with '['. A process becomes a label and is written
 *   again as the first frame, so the output equals the input in any case.
 * - An empty frame, and a stack without frames, is the function [unnamed].
 * - The fraction of a count is dropped.
 * - Stacks may come in any order and more than once. Lines may end in CR LF.
 *   Empty lines and comments ("# ...") are ignored. Invalid UTF-8 is replaced.
 * - A line is skipped if it has no count, has two counts (a difference), or has
 *   a count that makes the sum of all exceed FOLDED_TOTAL_MAX.
 *   profile_info.problems contains the number of such lines, and of fractions.
 *   A file with only such lines is an error.
 * - Only the last FOLDED_DEPTH_MAX frames of a stack are kept, called by
 *   [truncated].
 */
#ifndef PROF_FORMAT_FOLDED_READ_H
#define PROF_FORMAT_FOLDED_READ_H

#include "format/format.h"

enum {
	/* The limit for pprof files is the same. */
	FOLDED_DEPTH_MAX = 1 << 16,
	/* Enough for a stack of that depth with names of 1,000 letters. */
	FOLDED_LINE_BYTES_MAX = 64 << 20,
};

/* The largest value of a pprof profile. */
#define FOLDED_TOTAL_MAX ((uint64_t)INT64_MAX)

bool folded_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *folded_read(FILE *in, struct profile *profile);

#endif
