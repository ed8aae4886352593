/*
 * Evaluates DWARF expressions of call frame information (CFI). Source: DWARF 5,
 * 2.5.1 and 6.4.2.
 *
 * Evaluation always terminates, because the number of steps and the stack depth
 * are limited. It fails for operations that CFI may not use (register names,
 * calls, pieces, DW_OP_call_frame_cfa) and for values that a recorded stack
 * does not contain.
 */
#ifndef PROF_UNWIND_EXPRESSION_H
#define PROF_UNWIND_EXPRESSION_H

#include "base/bytes.h"
#include "unwind/arch.h"

enum { EXPRESSION_STACK_MAX = 64, EXPRESSION_STEPS_MAX = 1000 };

struct expression_input {
	const struct regs *regs;
	/* Pushed first. NULL for an expression that computes the CFA. */
	const uint64_t *cfa;
	unsigned word_bytes;
	uint64_t load_bias; /* pc - vaddr in the expression's module */
	/* Reads size_bytes (1 to 8) of the process's memory, zero-extended. */
	bool (*load)(void *user, uint64_t address, unsigned size_bytes, uint64_t *ret);
	void *user;
};

/* Returns in *ret the value on top of the stack at the end. */
bool expression_evaluate(struct bytes operations, const struct expression_input *input,
			 uint64_t *ret);

#endif
