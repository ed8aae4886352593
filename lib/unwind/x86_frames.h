/*
 * Derives facts about frames and jumps of an x86-64 function from its machine
 * code. The code is searched at every byte, not disassembled. So every real
 * instruction is found, but so are bytes that only look like one.
 */
#ifndef PROF_UNWIND_X86_FRAMES_H
#define PROF_UNWIND_X86_FRAMES_H

#include "unwind/arch.h"

/* For members of struct arch with the same names. */
unsigned x86_frame_sizes(const unsigned char *code, size_t len, uint64_t *sizes, unsigned room,
			 unsigned *alignment);
bool x86_sets_up_fp(const unsigned char *code, size_t len, size_t *at);
bool x86_may_set_fp(const unsigned char *code, size_t len);
unsigned x86_popped_bytes(const unsigned char after_call[CODE_BYTES]);
enum jump x86_jump_at(const unsigned char *code, size_t len, uint64_t address, uint64_t *target);

#endif
