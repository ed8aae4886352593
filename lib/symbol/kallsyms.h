/*
 * Names of kernel addresses: /proc/kallsyms, streamed; only what covers one of the wanted addresses
 * is kept. Source: kernel/kallsyms.c.
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
 * before. Of several symbols at an address the one with fewer leading underscores (not _stext), the
 * global before the weak before the local, then the last by name (__x64_sys_getpid, not
 * __ia32_sys_getpid). Fails when the kernel hides its addresses (kptr_restrict): they all read as
 * zero.
 */
MUST_CHECK struct error *kallsyms_find(FILE *kallsyms, const uint64_t *addresses, size_t count,
				       struct arena *arena, const char **names);

#endif
