/*
 * Finds the start of a function without a symbol: the start of the frame
 * description entry (FDE) in the call frame information that covers an address.
 * Stripped files have this information, too.
 *
 * The hot and the cold part of a function have separate entries. One entry can
 * cover several functions of hand-written assembly.
 */
#ifndef PROF_SYMBOL_FUNCTION_STARTS_H
#define PROF_SYMBOL_FUNCTION_STARTS_H

#include "base/cleanup.h"
#include "elf/elf_file.h"

#include <stdatomic.h>

struct function_starts;

/*
 * Opens the call frame information of a file. The ELF file must outlive the
 * result. If the file has no index of its entries, they are indexed here; this
 * stops when *cancel becomes true. `cancel` may be NULL. Returns NULL if prof
 * does not support the call frame information of the architecture.
 */
struct function_starts *function_starts_new(struct elf_file *elf, const atomic_bool *cancel);
void function_starts_free(struct function_starts *starts);
DEFINE_CLEANUP(function_starts, function_starts_free)

/*
 * Finds the vaddrs [*start, *end) of the function. Returns false if no entry
 * covers vaddr.
 */
bool function_starts_find(const struct function_starts *starts, uint64_t vaddr, uint64_t *start,
			  uint64_t *end);

#endif
