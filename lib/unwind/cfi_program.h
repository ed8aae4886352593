/*
 * Executes call frame instructions up to an address and returns the row that is
 * valid there.
 *
 * Source: DWARF 5, 6.4.2 and 6.4.3; LSB Core for the GNU instructions;
 * AADWARF64, 4.4, for negate_ra_state, negate_ra_state_with_pc and
 * set_ra_state. These three are ignored, because signatures are removed from
 * every return address.
 */
#ifndef PROF_UNWIND_CFI_PROGRAM_H
#define PROF_UNWIND_CFI_PROGRAM_H

#include "unwind/cfi_entry.h"
#include "unwind/cfi_rule.h"

/* Returns the rules for registers that an entry does not mention. */
void cfi_row_default(const struct arch *arch, struct cfi_row *ret);

/*
 * Requires that the FDE covers vaddr. Subtracts the executed instructions from
 * *steps. Returns false for malformed, unknown or contradictory instructions,
 * and if *steps instructions are not enough.
 */
bool cfi_program_run(const struct cfi_section *section, const struct cfi_fde *fde,
		     const struct arch *arch, const struct cfi_row *defaults, uint64_t vaddr,
		     unsigned *steps, struct cfi_rule *ret);

#endif
