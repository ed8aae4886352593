/*
 * Recognizes calls in 32-bit and 64-bit x86 code. Source: Intel SDM, volume 2,
 * CALL.
 */
#ifndef PROF_UNWIND_X86_CALLS_H
#define PROF_UNWIND_X86_CALLS_H

#include "unwind/arch.h"

/* For members of struct arch with the same names. */
bool x86_ends_with_call(const unsigned char code[CODE_BYTES]);
bool x86_call_target(const unsigned char code[CODE_BYTES], uint64_t return_address, uint64_t *ret);
bool x86_has_register_jump(const unsigned char *code, size_t len);

#endif
