/*
 * Joins what names and what lines a kernel's code: the outermost function has the name that the
 * running kernel says, which knows its clones and aliases best, and lines and inlined functions are
 * those of its debug information.
 */
#ifndef PROF_SYMBOL_KERNEL_LINES_H
#define PROF_SYMBOL_KERNEL_LINES_H

#include "symbol/reply.h"

/*
 * Both are replies for that many addresses; names has at most one line per address. debug_file: of
 * the lines. Where there is no name, lines are taken as they are.
 */
struct reply *kernel_lines_join(const struct reply *names, const struct reply *lines,
				size_t addresses, const char *debug_file);

#endif
