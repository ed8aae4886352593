/*
 * Steps out of the functions of Go's runtime that switch stacks (go_code.h).
 */
#ifndef PROF_UNWIND_STEP_GO_H
#define PROF_UNWIND_STEP_GO_H

#include "unwind/go_code.h"
#include "unwind/walk.h"

/* Returns true if step_go() must find the caller. */
bool go_switches(const struct walk *walk, enum go_function function);

/*
 * Moves to the caller, which may be on another stack. Otherwise stops the walk,
 * as truncated if that stack was not copied.
 */
bool step_go(struct walk *walk, enum go_function function);

/*
 * Like step_go(), if the caller is determined by the frame pointer only: it is
 * 0 at the root, otherwise an address on the other stack.
 */
bool step_to_other_stack(struct walk *walk);

#endif
