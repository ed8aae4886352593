/*
 * Looks up kernel symbols with a small BPF program that passes each address to
 * bpf_snprintf("%ps"). This is much faster than /proc/kallsyms, which has the
 * same names but only lists all of them at once.
 *
 * Source: bpf-helpers(7), Documentation/core-api/printk-formats.rst.
 */
#ifndef PROF_SYMBOL_KSYM_H
#define PROF_SYMBOL_KSYM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sets names[i] to the symbol that covers addresses[i], as "name" or "name
 * [module]", allocated in the arena, or to NULL if there is none. Returns false
 * without any names if the kernel (before 5.14) or prof's privileges (CAP_BPF
 * and CAP_PERFMON) do not permit it.
 */
bool ksym_find(const uint64_t *addresses, size_t count, struct arena *arena, const char **names);

#endif
