/*
 * What the machine code of an x86-64 function tells about its frame and its jumps. It is searched
 * at every byte, not disassembled: what is there is found, but so is what only looks like it.
 */
#ifndef PROF_UNWIND_X86_FRAMES_H
#define PROF_UNWIND_X86_FRAMES_H

#include "unwind/arch.h"

/* Of struct arch. */
unsigned x86_frame_sizes(const unsigned char *code, size_t len, uint64_t *sizes, unsigned room,
			 unsigned *alignment);
bool x86_sets_up_fp(const unsigned char *code, size_t len, size_t *at);
bool x86_may_set_fp(const unsigned char *code, size_t len);
unsigned x86_popped_bytes(const unsigned char after_call[CODE_BYTES]);
enum jump x86_jump_at(const unsigned char *code, size_t len, uint64_t address, uint64_t *target);

#endif
