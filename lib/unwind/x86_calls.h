/* What calls look like in x86 code, of either word size. Source: Intel SDM, volume 2, CALL. */
#ifndef PROF_UNWIND_X86_CALLS_H
#define PROF_UNWIND_X86_CALLS_H

#include "unwind/arch.h"

/* As struct arch has them. */
bool x86_ends_with_call(const unsigned char code[CODE_BYTES]);
bool x86_call_target(const unsigned char code[CODE_BYTES], uint64_t return_address, uint64_t *ret);

#endif
