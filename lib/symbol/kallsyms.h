/*
 * Names of kernel addresses where ksym.h may not ask for them: /proc/kallsyms, streamed; only what
 * covers one of the wanted addresses is kept. Source: kernel/kallsyms.c.
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
 * [module]", in the arena; NULL: none, also where data or the end of the text (_etext) comes
 * before. Of several text symbols at an address the first, as the kernel itself prints it in its
 * traces: its build puts the best first. Fails when the kernel hides its addresses (kptr_restrict):
 * they all read as zero.
 */
MUST_CHECK struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
				       struct arena *arena, const char **names);

#endif
