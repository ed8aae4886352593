/*
 * Names of kernel addresses, asked of the kernel one by one: a BPF program of a dozen instructions
 * hands each to bpf_snprintf("%ps"), 1.7 µs an address. /proc/kallsyms says the same, but only of
 * all hundred thousand symbols at once, which takes the kernel 36 ms (on distributions' kernels
 * more than 100). Source: bpf-helpers(7), Documentation/core-api/printk-formats.rst.
 */
#ifndef PROF_SYMBOL_KSYM_H
#define PROF_SYMBOL_KSYM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * names[i]: the symbol that addresses[i] is in, as "name" or "name [module]", in the arena; NULL:
 * none. False, and nothing is found: this kernel (before 5.14) or our privileges (CAP_BPF and
 * CAP_PERFMON) do not allow it.
 */
bool ksym_find(const uint64_t *addresses, size_t count, struct arena *arena, const char **names);

#endif
