/*
 * DWARF expressions, as call frame information uses them. Source: DWARF 5, 2.5.1 and 6.4.2.
 *
 * Hostile operations end: at most so many steps, so deep a stack. What CFI may not use (register
 * names, calls, pieces, DW_OP_call_frame_cfa) and what a recorded stack cannot answer makes the
 * evaluation fail.
 */
#ifndef PROF_UNWIND_EXPRESSION_H
#define PROF_UNWIND_EXPRESSION_H

#include "base/bytes.h"
#include "unwind/arch.h"

enum { EXPRESSION_STACK_MAX = 64, EXPRESSION_STEPS_MAX = 1000 };

struct expression_input {
	const struct regs *regs;
	const uint64_t *cfa; /* pushed first; NULL for an expression that says the CFA itself */
	unsigned word_bytes;
	uint64_t load_bias; /* pc - vaddr in the module the expression is from */
	/* Memory of the process: size_bytes (1 to 8) at the address, zero-extended. */
	bool (*load)(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret);
	void *user;
};

/* The value on top of the stack at the end. */
bool expression_evaluate(struct bytes operations, const struct expression_input *input,
			 uint64_t *ret);

#endif
