/*
 * Frames of JIT code that was sampled before its compiler had written its jitdump (proc/jitdump.h):
 * gives them their place, as soon as it is known.
 */
#ifndef PROF_SYMBOL_JIT_FRAMES_H
#define PROF_SYMBOL_JIT_FRAMES_H

#include "proc/address_spaces.h"
#include "profile/profile.h"

/* Of the profile's frames from `first` to before `end`. */
void jit_frames_settle(struct profile *profile, struct address_spaces *spaces, frame_id first,
		       frame_id end);

#endif
