/*
 * What differs between machines in unwinding: the registers, how perf numbers them, how DWARF does.
 *
 * A machine is one file arch_<name>.c with one const struct; all are compiled everywhere, so that
 * recorded stacks of another machine can be unwound in a test. Sources: asm/perf_regs.h of the
 * kernel; System V psABI x86-64, figure 3.36; DWARF for the Arm 64-bit architecture
 * (AADWARF64), 4.1.
 */
#ifndef PROF_UNWIND_ARCH_H
#define PROF_UNWIND_ARCH_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

enum { REGS_MAX = 33 };

/* Register values by DWARF number; bit n of `known` says whether values[n] is. */
struct regs {
	uint64_t values[REGS_MAX];
	uint64_t known;
	uint64_t pc;
};

struct arch {
	const char *name;
	unsigned register_count; /* DWARF numbers below this are general registers */
	unsigned sp, fp, ra;	 /* DWARF numbers; ra: the column of the return address in CFI */
	uint64_t perf_mask;	 /* sample_regs_user that gives all of them and the pc */
	const uint8_t
		*perf_to_dwarf; /* by perf number; PERF_REG_PC for the pc, PERF_REG_NONE for none */
	unsigned perf_count;
	bool ra_in_register; /* a leaf's return address is in `ra`, not on the stack (aarch64's lr)
			      */
	uint64_t pc_mask; /* bits of a return address that count (pointer authentication on aarch64)
			   */
};

enum { PERF_REG_PC = 0xfe, PERF_REG_NONE = 0xff };

extern const struct arch arch_x86_64;
extern const struct arch arch_aarch64;
/* The machine prof was built for. */
const struct arch *arch_native(void);

/* From perf's dump (values: u64s in the order of mask's bits). False: bits missing that unwinding
 * needs. */
bool regs_from_perf(const struct arch *arch, uint64_t mask, struct bytes values, struct regs *ret);

#endif
