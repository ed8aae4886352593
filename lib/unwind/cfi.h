/*
 * Call frame information of one module: vaddr → the rule that finds the caller. Source: DWARF 5,
 * 6.4; LSB, .eh_frame and .eh_frame_hdr.
 *
 * .eh_frame is asked first, then .debug_frame, then the table that Go's runtime itself uses.
 * .eh_frame_hdr is searched in place; a section without such a table is indexed by cfi_index(),
 * which takes as long as the section is large.
 *
 * A foreign file (elf_file_is_foreign()) is read from a private copy, made by cfi_new(): its owner
 * can neither change it under a lookup nor make a lookup wait. Other files are read where they are
 * mapped.
 */
#ifndef PROF_UNWIND_CFI_H
#define PROF_UNWIND_CFI_H

#include "base/bytes.h"
#include "elf/elf_file.h"
#include "unwind/arch.h"
#include "unwind/cfi_rule.h"
#include "unwind/go_code.h"

#include <stdatomic.h>

struct cfi;

/* Large programs have 10 MB; Chromium's are 20. */
enum { CFI_COPY_BYTES_MAX = 32 << 20 };

/*
 * Never fails: without usable CFI, or with more of a foreign file than CFI_COPY_BYTES_MAX, lookups
 * find nothing. The ELF file, also of separate debug information, must outlive it, unless it is
 * foreign.
 */
struct cfi *cfi_new(struct elf_file *elf, const struct arch *arch);
void cfi_free(struct cfi *cfi);
DEFINE_CLEANUP(cfi, cfi_free)

/* The bytes of sections that cfi_index() has to read. */
size_t cfi_bytes_to_index(const struct cfi *cfi);
/*
 * Makes the entries of sections without a table known to lookups, once. Stops, and leaves the rest
 * out, when *cancel becomes true (it may be NULL).
 */
void cfi_index(struct cfi *cfi, const atomic_bool *cancel);
/* The private memory in use. */
size_t cfi_memory_bytes(const struct cfi *cfi);

/*
 * Whether the code at vaddr is of Go, and which of its functions switches stacks; other code of the
 * same file may be of C. Every Go function with a frame keeps a frame pointer, which Go's CFI does
 * not state; cfi_find() adds it. Go's CFI is also wrong in functions that switch stacks, where
 * frame pointers are right: they are 0 at the end of the stack or lead into the other stack.
 * Where the file's table of functions is not found, code is of Go that .eh_frame does not describe:
 * Go's compiler writes .debug_frame alone.
 */
enum go_function cfi_go(const struct cfi *cfi, uint64_t vaddr);

/*
 * False if no valid entry covers vaddr. Registers that an entry does not mention follow the psABI.
 * *steps is the number of instructions that may be executed, and then is what is left of them; with
 * 0 left the result is false, because the entry's program has too many.
 */
bool cfi_find(const struct cfi *cfi, uint64_t vaddr, unsigned *steps, struct cfi_rule *ret);
/*
 * The vaddrs [*start, *end) of the entry that covers vaddr: a function, or the hot or cold part of
 * one. False if there is none.
 */
bool cfi_function(const struct cfi *cfi, uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif
