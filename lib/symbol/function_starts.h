/*
 * Where functions without a symbol start: the entry (FDE) of the call frame information that covers
 * an address begins there. Stripped files have this information too.
 *
 * The hot and the cold part of a function have entries of their own, and hand-written assembly can
 * have one entry for several functions.
 */
#ifndef PROF_SYMBOL_FUNCTION_STARTS_H
#define PROF_SYMBOL_FUNCTION_STARTS_H

#include "base/cleanup.h"
#include "elf/elf_file.h"

#include <stdatomic.h>

struct function_starts;

/*
 * The ELF file must outlive it. A file without an index of its call frame information is indexed,
 * which stops when *cancel becomes true (it may be NULL). Returns NULL for an architecture whose
 * call frame information prof does not read.
 */
struct function_starts *function_starts_new(struct elf_file *elf, const atomic_bool *cancel);
void function_starts_free(struct function_starts *starts);
DEFINE_CLEANUP(function_starts, function_starts_free)

/* The vaddrs [*start, *end) of the function; false if no entry covers vaddr. */
bool function_starts_find(const struct function_starts *starts, uint64_t vaddr, uint64_t *start,
			  uint64_t *end);

#endif
