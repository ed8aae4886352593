/*
 * Uses a function argument as the weight of a probe's samples. At the entry of
 * a function the first six integer and pointer arguments are in registers
 * (System V ABI for AMD64, 3.2.3; AAPCS64, 6.8.2).
 */
#ifndef PROF_PERF_CALL_ARGUMENT_H
#define PROF_PERF_CALL_ARGUMENT_H

#include "base/error.h"
#include "base/value.h"

#include <stdbool.h>
#include <stdint.h>

struct record_regs;

/* Upper bound of a sample's weight, because a register can hold any value. */
#define CALL_ARGUMENT_MAX (UINT64_C(1) << 40)

struct call_argument {
	/* The register's bit in a register mask (asm/perf_regs.h), or 0 for no
	 * argument. */
	uint64_t register_bit;
	enum value_kind kind; /* unit of the weights */
};

/* Parses "arg1" to "arg6", which are counts, or "bytes:arg1". Returns false for
 * any other text. */
MUST_CHECK bool call_argument_parse(const char *text, struct call_argument *ret);
/* Returns the argument, or 0 if it is negative or the sample lacks the
 * register. */
uint64_t call_argument_value(struct call_argument argument, const struct record_regs *regs);

#endif
