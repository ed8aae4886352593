/*
 * Joins the names and the lines of kernel code. The outermost function gets the
 * name from the running kernel, which knows its clones and aliases best. Lines
 * and inlined functions come from the kernel's debug information.
 */
#ifndef PROF_SYMBOL_KERNEL_LINES_H
#define PROF_SYMBOL_KERNEL_LINES_H

#include "symbol/reply.h"

/*
 * Joins two replies for the same addresses. `names` has at most one line per
 * address. debug_file is the source of `lines`. Lines of an address without a
 * name are copied unchanged.
 */
struct reply *kernel_lines_join(const struct reply *names, const struct reply *lines,
				size_t addresses, const char *debug_file);

#endif
