/*
 * Looks up the kernel's symbols in the best source that is permitted: ksym.h or
 * kallsyms.h.
 */
#ifndef PROF_SYMBOL_KERNEL_NAMES_H
#define PROF_SYMBOL_KERNEL_NAMES_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Sets names[i] as in kallsyms.h; they must be NULL before. `addresses` must be
 * ascending. proc is "/proc" or a directory that looks like it, or NULL if the
 * kernel is not the running one. Returns NULL on success, otherwise one
 * sentence with the reason, which the caller frees.
 */
char *kernel_names_find(const char *proc, const uint64_t *addresses, size_t count,
			struct arena *arena, const char **names);

#endif
