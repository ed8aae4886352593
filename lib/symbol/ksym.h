/*
 * Kernel symbols from BPF: a program of a dozen instructions passes each address to
 * bpf_snprintf("%ps"), which takes 1.7 µs. /proc/kallsyms has the same names, but only all hundred
 * thousand at once, which takes the kernel 36 ms (more than 100 ms on distributions' kernels).
 * Source: bpf-helpers(7), Documentation/core-api/printk-formats.rst.
 */
#ifndef PROF_SYMBOL_KSYM_H
#define PROF_SYMBOL_KSYM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * names[i]: the symbol that covers addresses[i], as "name" or "name [module]", in the arena; NULL
 * if there is none. False, with nothing found, if this kernel (before 5.14) or prof's privileges
 * (CAP_BPF and CAP_PERFMON) do not allow it.
 */
bool ksym_find(const uint64_t *addresses, size_t count, struct arena *arena, const char **names);

#endif
