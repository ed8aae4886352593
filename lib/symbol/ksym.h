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
#include "base/cleanup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ksym;

/* Returns NULL if the kernel (before 5.14) or prof's privileges (CAP_BPF and
 * CAP_PERFMON) do not permit it. */
struct ksym *ksym_new(void);
void ksym_free(struct ksym *ksym);
DEFINE_CLEANUP(ksym, ksym_free)

/*
 * Sets names[i] to the symbol that covers addresses[i], as "name" or "name
 * [module]", allocated in the arena, or to NULL if there is none. Returns false
 * if the kernel refuses.
 */
bool ksym_find(const struct ksym *ksym, const uint64_t *addresses, size_t count,
	       struct arena *arena, const char **names);

#endif
