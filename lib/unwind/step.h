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
 * Without CFI. A leaf: by what its instruction says, or by a return address on top of the stack
 * (in lr), if a call stands before it. Any other frame, and failing that: by the frame pointer, if
 * it points into the stack and at the return address of a call.
 */
bool step_guess(struct walk *walk);

#endif
