/*
 * Reads folded stacks of any producer: one stack per line, frames from root to leaf separated by
 * ';', then a space and a count.
 *
 *  - The first frame is the process name, as prof and perf's stackcollapse scripts write it.
 *  - Stacks may come in any order and more than once. Lines may end in CR LF. Empty lines are
 *    ignored. Invalid UTF-8 is replaced.
 *  - Of a stack of more than FOLDED_DEPTH_MAX frames the last ones are taken, called by
 * [truncated].
 *  - A line without a count, with an empty frame, or with two counts (a difference) is an error,
 *    which gives the line number.
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

bool folded_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *folded_read(FILE *in, struct profile *profile);

#endif
