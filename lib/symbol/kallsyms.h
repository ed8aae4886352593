/*
 * Names of kernel addresses: /proc/kallsyms, streamed; only what covers one of the wanted addresses
 * is kept. With kptr_restrict the addresses read as zero: then nothing is found and the problem
 * says so. Source: kernel/kallsyms.c.
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
 * [module]", in the arena; NULL: none.
 */
MUST_CHECK struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
				       struct arena *arena, const char **names);

#endif
