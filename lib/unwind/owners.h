/*
 * Unwinds code without call frame information that runs in the frame of another
 * function, the owner. A hand-written function sets up a frame and jumps to
 * generated code, which uses the frame and jumps back. GHC's StgRun enters
 * Haskell code this way: the Haskell stack is elsewhere, and the C stack has
 * StgRun's caller.
 *
 * The owner is found without names. Somewhere above sp is a return address
 * whose call names the owner. The owner's code jumps through a register, and
 * one of its CFI rows puts the return address exactly there. The next search
 * tries the position of the last success first.
 *
 * A module in which no owner is found is searched less and less often, at most
 * once per walk. Other code of that module may have an owner nevertheless. So a
 * walk that is lost without the search, or ends at a return address of 0, is
 * repeated with it (unwinder_walk()). These repetitions become rarer only if
 * they fail.
 */
#ifndef PROF_UNWIND_OWNERS_H
#define PROF_UNWIND_OWNERS_H

#include "unwind/cfi_cache.h"
#include "unwind/walk.h"

struct owners;

/* `cfi` must outlive the result. */
struct owners *owners_new(struct cfi_cache *cfi);
void owners_free(struct owners *owners);

/*
 * Steps to the owner's caller. Returns false and leaves the walk unchanged if
 * there is no owner.
 */
bool owners_step(struct owners *owners, struct walk *walk);

#endif
