/*
 * Steps out of the functions of Go's runtime that switch stacks (go_code.h).
 */
#ifndef PROF_UNWIND_STEP_GO_H
#define PROF_UNWIND_STEP_GO_H

#include "unwind/go_code.h"
#include "unwind/walk.h"

/* Whether the caller is to be found by step_go(). */
bool go_switches(const struct walk *walk, enum go_function function);

/* Moves to the caller, which may be on another stack; or stops the walk, as truncated if that stack
 * was not copied. */
bool step_go(struct walk *walk, enum go_function function);

/*
 * The same where only the frame pointer tells: 0 at the root, else an address on the other stack.
 */
bool step_to_other_stack(struct walk *walk);

#endif
