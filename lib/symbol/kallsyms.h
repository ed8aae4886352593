/*
 * Kernel symbols from /proc/kallsyms, for when ksym.h is not permitted. The file is streamed; only
 * symbols that cover one of the addresses are kept. Source: kernel/kallsyms.c.
 */
#ifndef PROF_SYMBOL_KALLSYMS_H
#define PROF_SYMBOL_KALLSYMS_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * addresses: ascending. names[i]: the text symbol at or before addresses[i], as "name" or "name
 * [module]", in the arena; NULL if there is none, or if data or the end of the text (_etext) comes
 * first. Of several text symbols at one address the first is taken, as the kernel does in its own
 * traces: its build sorts the best first. Fails if the kernel hides its addresses (kptr_restrict),
 * which then all read as zero.
 */
MUST_CHECK struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
				       struct arena *arena, const char **names);

#endif
