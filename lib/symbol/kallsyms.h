/*
 * Looks up kernel symbols in /proc/kallsyms, which is needed if ksym.h is not
 * permitted. The file is streamed; only symbols that cover one of the addresses
 * are kept. Source: kernel/kallsyms.c.
 */
#ifndef PROF_SYMBOL_KALLSYMS_H
#define PROF_SYMBOL_KALLSYMS_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Sets names[i] to the text symbol at or before addresses[i], as "name" or
 * "name [module]", allocated in the arena. `addresses` must be ascending.
 * names[i] is NULL if there is no such symbol, or if data or the end of the
 * text (_etext) comes first. If several text symbols have the same address, the
 * first one is used, like in kernel traces: the kernel's build sorts the best
 * one first. Fails if the kernel hides its addresses (kptr_restrict), in which
 * case all of them read as zero.
 */
MUST_CHECK struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
				       struct arena *arena, const char **names);

#endif
