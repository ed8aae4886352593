/*
 * Steps from a frame to its caller. Each function either moves the walk to the
 * caller and returns true, or stops the walk with a reason and returns false.
 */
#ifndef PROF_UNWIND_STEP_H
#define PROF_UNWIND_STEP_H

#include "unwind/cfi.h"
#include "unwind/walk.h"

struct owners;

/* Steps by any CFI rule. */
bool step_full(struct walk *walk, const struct cfi_rule *rule);

/*
 * Steps without CFI: searches for a return address, which is an address that
 * follows a call instruction.
 *
 * In a leaf, an instruction of a prologue determines where the return address
 * is. Otherwise there are three candidates: the top of the stack (or lr), the
 * word next to the one that the frame pointer points to, and, least likely, the
 * lowest words of the stack. Among the first two, the candidate whose call
 * targets code just before the pc is preferred. Next come code in the frame of
 * another function (owners.h) and then the first candidate.
 *
 * A signal frame is recognized by its code. Any other frame uses its frame
 * pointer. If that fails, it uses the lowest words of its stack, where the call
 * must be of this function if a file contains its code. Such a guess is proven
 * only if the walk reaches a root from it.
 */
bool step_guess(struct walk *walk, struct owners *owners);

/* Steps by the frame pointer alone. */
bool step_by_frame_pointer(struct walk *walk);
/* Returns true if the code at the pc is that of a signal frame. */
bool is_signal_frame(struct walk *walk);
/* Returns true if a call precedes the pc. */
bool is_after_call(struct walk *walk);
/* Returns true if a call that may have led to the pc precedes the address. */
bool is_return_address(struct walk *walk, uint64_t address);
/*
 * Returns true if a function may jump to the code before the pc, judging from
 * its first instructions. If it cannot, a return address after a call of this
 * function is a remnant of an earlier call.
 */
bool may_jump_here(struct walk *walk, uint64_t function);
/*
 * Finds the target of the call before the return address. Returns false if
 * there is no call or its target is not in the instruction.
 */
bool called_function(struct walk *walk, uint64_t return_address, uint64_t *pc);

#endif
