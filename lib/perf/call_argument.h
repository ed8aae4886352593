/*
 * Arguments of functions as weights of a probe's samples: at the entry of a function its first six
 * integers and pointers are in registers (System V ABI for AMD64, 3.2.3; AAPCS64, 6.8.2).
 */
#ifndef PROF_PERF_CALL_ARGUMENT_H
#define PROF_PERF_CALL_ARGUMENT_H

#include "base/error.h"
#include "base/value.h"

#include <stdbool.h>
#include <stdint.h>

struct record_regs;

/* No sample weighs more: what a register holds can be anything. */
#define CALL_ARGUMENT_MAX (UINT64_C(1) << 40)

struct call_argument {
	uint64_t register_bit; /* its bit alone in a mask of registers (asm/perf_regs.h); 0: none */
	enum value_kind kind;  /* of the weights */
};

/* "arg1" to "arg6", a count, or "bytes:arg1"; false for anything else. */
MUST_CHECK bool call_argument_parse(const char *text, struct call_argument *ret);
/* 0 if the sample lacks the register, or its value is negative. */
uint64_t call_argument_value(struct call_argument argument, const struct record_regs *regs);

#endif
