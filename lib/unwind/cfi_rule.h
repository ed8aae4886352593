/* The call frame rule that is valid at an address. Source: DWARF 5, 6.4.1. */
#ifndef PROF_UNWIND_CFI_RULE_H
#define PROF_UNWIND_CFI_RULE_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

/* How one register of the caller is computed. */
enum cfi_how {
	/*
	 * Not recoverable. For the return address: this is the outermost frame.
	 */
	CFI_UNDEFINED,
	CFI_SAME,     /* unchanged */
	CFI_AT_CFA,   /* saved at CFA + offset */
	CFI_CFA_PLUS, /* equal to CFA + offset */
	CFI_REGISTER, /* equal to register `reg` + offset */
	/* Saved at the expression's value. The CFA is pushed first. */
	CFI_EXPRESSION_AT,
	/* Equal to the expression's value. The CFA is pushed first. */
	CFI_EXPRESSION,
};

struct cfi_value {
	uint8_t how; /* enum cfi_how */
	uint8_t reg;
	uint32_t expression_bytes;
	union {
		int64_t offset;
		/* DWARF operations, borrowed from the ELF file */
		const unsigned char *expression;
	};
};

struct cfi_row {
	/* CFI_REGISTER, or CFI_EXPRESSION without an initial CFA. */
	struct cfi_value cfa;
	/* By DWARF number. The return address is at arch->ra. */
	struct cfi_value regs[REGS_MAX];
};

/* Valid for every vaddr in [start, end). */
struct cfi_rule {
	uint64_t start, end;
	/* Augmentation 'S': the caller was interrupted and made no call. */
	bool signal_frame;
	bool is_inferred; /* inferred from code whose function start is uncertain */
	/*
	 * The CFA is sp plus a constant, but the frame pointer is more reliable
	 * if it is known: it points to the saved frame pointer of the caller.
	 * Callees of V8's builtins pop their arguments, which invalidates sp.
	 */
	bool has_frame;
	struct cfi_row row;
};

#endif
