/*
 * The instructions of call frame information: run up to an address, they give the row that holds
 * there. Source: DWARF 5, 6.4.2 and 6.4.3; for the GNU instructions, LSB Core; negate_ra_state:
 * AADWARF64, 4.4 (of no concern: signatures are masked from every return address).
 */
#ifndef PROF_UNWIND_CFI_PROGRAM_H
#define PROF_UNWIND_CFI_PROGRAM_H

#include "unwind/cfi.h"
#include "unwind/cfi_entry.h"

/* What holds where an entry is silent. */
void cfi_row_default(const struct arch *arch, struct cfi_row *ret);

/* vaddr must lie in the fde. False: instructions that are damaged, unknown or make no sense. */
bool cfi_program_run(const struct cfi_section *section, const struct cfi_fde *fde,
		     const struct arch *arch, const struct cfi_row *defaults, uint64_t vaddr,
		     struct cfi_rule *ret);

#endif
