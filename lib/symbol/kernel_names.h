/*
 * The kernel's symbols, from the best source that is permitted: ksym.h or kallsyms.h.
 */
#ifndef PROF_SYMBOL_KERNEL_NAMES_H
#define PROF_SYMBOL_KERNEL_NAMES_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/*
 * proc: "/proc", or a directory that looks like it; NULL if the kernel is another one. addresses:
 * ascending. names[i]: as in kallsyms.h, zero before. Returns why there are none, one sentence that
 * the caller frees; else NULL.
 */
char *kernel_names_find(const char *proc, const uint64_t *addresses, size_t count,
			struct arena *arena, const char **names);

#endif
