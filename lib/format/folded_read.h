/*
 * Folded stacks of any producer: a line a stack, frames from the root to the leaf with a ';'
 * between them, a space, a count.
 *
 * - The first frame is taken for the name of the process, as prof and perf's collapsers write it.
 * - Stacks may come in any order, and more than once. Lines may end in CR LF; empty ones are passed
 *   over. What is not UTF-8 is replaced.
 * - A line without a count, with an empty frame, or with two counts (a difference) is an error that
 *   says which line it is.
 */
#ifndef PROF_FORMAT_FOLDED_READ_H
#define PROF_FORMAT_FOLDED_READ_H

#include "format/format.h"

bool folded_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *folded_read(FILE *in, struct profile *profile);

#endif
