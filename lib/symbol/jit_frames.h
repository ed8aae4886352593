/*
 * Assigns frames of JIT code to their place in a jitdump (proc/jitdump.h). A
 * frame can be sampled before the compiler has written the code to the jitdump.
 */
#ifndef PROF_SYMBOL_JIT_FRAMES_H
#define PROF_SYMBOL_JIT_FRAMES_H

#include "proc/address_spaces.h"
#include "profile/profile.h"

/* Resolves the frames [first, end) of the profile. */
void jit_frames_settle(struct profile *profile, struct address_spaces *spaces, frame_id first,
		       frame_id end);

#endif
