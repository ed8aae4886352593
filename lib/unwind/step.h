/*
 * Steps from a frame to its caller. Each either moves the walk to the caller, or stops it with a
 * reason.
 */
#ifndef PROF_UNWIND_STEP_H
#define PROF_UNWIND_STEP_H

#include "unwind/cfi.h"
#include "unwind/walk.h"

struct owners;

/* By any CFI rule. */
bool step_full(struct walk *walk, const struct cfi_rule *rule);

/*
 * Without CFI: searches for a return address, which is an address that a call instruction
 * precedes.
 *
 * In a leaf the instruction at the pc tells where it is, if it belongs to a prologue. Otherwise it
 * may be on top of the stack (or in lr), next to what the frame pointer points at, or, least
 * likely, among the lowest words of the stack; of the first two, the one whose call targets code
 * just before the pc is preferred, then code in the frame of another function (owners.h), else the
 * first. A signal frame is recognized by its code. Any other frame uses its frame pointer and, if
 * that fails, the lowest words of its stack, where the call must be of this function if a file has
 * its code. Nothing proves such a guess unless the walk reaches a root from it.
 */
bool step_guess(struct walk *walk, struct owners *owners);

/* By the frame pointer alone. */
bool step_by_frame_pointer(struct walk *walk);
/* True if this is a signal frame, by its code. */
bool is_signal_frame(struct walk *walk);
/* True if a call precedes the pc. */
bool is_after_call(struct walk *walk);
/* True if a call precedes the address, which may have led to the pc. */
bool is_return_address(struct walk *walk, uint64_t address);
/*
 * Whether a function may jump to the code before the pc, as far as its first code tells: a call of
 * another function proves that its return address is left over from that.
 */
bool may_jump_here(struct walk *walk, uint64_t function);
/* Where the call before the return address leads. False: there is no call, or it does not say. */
bool called_function(struct walk *walk, uint64_t return_address, uint64_t *pc);

#endif
