/*
 * The rule of call frame information that is valid at an address. Source: DWARF 5, 6.4.1.
 */
#ifndef PROF_UNWIND_CFI_RULE_H
#define PROF_UNWIND_CFI_RULE_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* How to compute one register of the caller. */
enum cfi_how {
	CFI_UNDEFINED, /* not recoverable; for the return address: this is the outermost frame */
	CFI_SAME,      /* unchanged */
	CFI_AT_CFA,    /* saved at CFA + offset */
	CFI_CFA_PLUS,  /* is CFA + offset */
	CFI_REGISTER,  /* is register `reg` + offset */
	CFI_EXPRESSION_AT, /* saved at the expression's value; the CFA is pushed first */
	CFI_EXPRESSION,	   /* is the expression's value; the CFA is pushed first */
};

struct cfi_value {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	uint32_t expression_bytes;
	union {
		int64_t offset;
		const unsigned char *expression; /* DWARF operations, borrowed from the ELF file */
	};
};

struct cfi_row {
	struct cfi_value cfa; /* CFI_REGISTER, or CFI_EXPRESSION without an initial CFA */
	struct cfi_value regs[REGS_MAX]; /* by DWARF number; the return address at arch->ra */
};

/* Valid for every vaddr in [start, end). */
struct cfi_rule {
	uint64_t start, end;
	bool signal_frame; /* augmentation S: the caller was interrupted, it did not call */
	bool is_inferred;  /* from code of which it is not certain where its function begins */
	struct cfi_row row;
};

#endif
