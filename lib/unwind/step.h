/*
 * The ways from a frame to its caller. Each leaves the walk at the caller, or stops it and says
 * why.
 */
#ifndef PROF_UNWIND_STEP_H
#define PROF_UNWIND_STEP_H

#include "unwind/cfi.h"
#include "unwind/walk.h"

/* By a rule of the CFI in all its generality. */
bool step_full(struct walk *walk, const struct cfi_rule *rule);

/*
 * Without CFI, by what looks like a return address: one that a call stands before.
 *
 * A leaf: where the instruction at the pc says that it is, if that is part of a prologue. Else it
 * may stand on top of the stack (in lr), beside what the frame pointer points at, or, the least
 * likely, among the lowest words of the stack: that one of the first two whose call goes to just
 * before the pc, or else the first there is. Any other frame: the one that the kernel makes for a
 * signal handler tells by its code; else by its frame pointer; and where that leads nowhere, the
 * lowest words of its stack are looked through too. Nothing vouches for what is found so, unless
 * it leads to the root.
 */
bool step_guess(struct walk *walk);

/* By the frame pointer alone. */
bool step_by_frame_pointer(struct walk *walk);
/* Is this the frame that the kernel made for a signal handler, by its code? */
bool is_signal_frame(struct walk *walk);
/* Does a call stand before the pc, or before that address? */
bool is_after_call(struct walk *walk);
bool is_return_address(struct walk *walk, uint64_t address);

#endif
