/*
 * Looks up the call frame information (CFI) of one module: maps a vaddr to the
 * rule that finds the caller. Source: DWARF 5, 6.4; LSB, .eh_frame and
 * .eh_frame_hdr.
 *
 * A lookup searches .eh_frame first, then .debug_frame, then the function table
 * of Go's runtime. It searches .eh_frame_hdr in place. cfi_index() indexes a
 * section that has no such table, in time proportional to the section's size.
 *
 * An untrusted file (elf_file_is_untrusted()) is read from a private copy that
 * cfi_new() makes. Its owner can neither change it during a lookup nor make a
 * lookup block. Other files are read where they are mapped.
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

/*
 * Upper bound of a private copy, above the size of the largest known programs.
 */
enum { CFI_COPY_BYTES_MAX = 32 << 20 };

/*
 * Never fails. Lookups find nothing if there is no usable CFI, or if an
 * untrusted file has more than CFI_COPY_BYTES_MAX of it. The ELF file must
 * outlive the result unless it is untrusted. The same holds for a separate
 * debug file.
 */
struct cfi *cfi_new(struct elf_file *elf, const struct arch *arch);
void cfi_free(struct cfi *cfi);
DEFINE_CLEANUP(cfi, cfi_free)

/* Returns the size of the sections that cfi_index() has to read. */
size_t cfi_bytes_to_index(const struct cfi *cfi);
/*
 * Indexes the sections that have no table, so that lookups find their entries.
 * May be called once. Stops when *cancel becomes true, without the remaining
 * entries. `cancel` may be NULL.
 */
void cfi_index(struct cfi *cfi, const atomic_bool *cancel);
/* Returns the private memory in use. */
size_t cfi_memory_bytes(const struct cfi *cfi);

/*
 * Returns which kind of Go function covers vaddr, or GO_NONE if the code there
 * is not Go code. A file can contain both Go and C code.
 *
 * Every Go function with a frame keeps a frame pointer. Go's CFI does not
 * describe it, so cfi_find() adds it. Go's CFI is wrong in functions that
 * switch stacks. The frame pointer is right there: it is 0 at the end of the
 * stack or points into the other stack.
 *
 * If the file's function table is not found, code that .eh_frame does not cover
 * counts as Go code, because Go's compiler writes only .debug_frame.
 */
enum go_function cfi_go(const struct cfi *cfi, uint64_t vaddr);

/*
 * Finds _init() or _fini(), which the C library's start files put together in
 * sections of their own, for x86-64 without CFI. Returns NULL if vaddr is in
 * neither.
 */
const struct elf_code *cfi_start_function(const struct cfi *cfi, uint64_t vaddr);

/*
 * Returns false if no valid entry covers vaddr. Registers that an entry does
 * not mention follow the psABI. *steps is the number of CFI instructions that
 * may be executed; it is reduced by those that were. Returns false if it
 * reaches 0, because the entry's program is too long.
 */
bool cfi_find(const struct cfi *cfi, uint64_t vaddr, unsigned *steps, struct cfi_rule *ret);
/*
 * Finds the vaddrs [*start, *end) of the entry that covers vaddr: a function,
 * or its hot or cold part. Returns false if there is none.
 */
bool cfi_function(const struct cfi *cfi, uint64_t vaddr, uint64_t *start, uint64_t *end);

#endif
