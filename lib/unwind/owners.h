/*
 * Code without call frame information that runs in another function's frame: a hand-written
 * function sets up a frame and jumps to generated code, which uses it and jumps back. GHC's StgRun
 * enters Haskell code so, whose own stack is elsewhere; the C stack has StgRun's caller.
 *
 * A frame's owner is found without names. Somewhere above sp there is a return address, its call
 * names the owner, and one of the owner's CFI rows, whose code jumps through a register, puts the
 * return address exactly there. Where one was found it is looked for first the next time. A module
 * in whose code none is found is searched less and less often, a walk once. Other code of that
 * module may have an owner all the same: a walk that is lost without the search, or ends at a
 * return address of 0, is repeated with it (unwinder_walk()). That becomes rarer only if it fails.
 */
#ifndef PROF_UNWIND_OWNERS_H
#define PROF_UNWIND_OWNERS_H

#include "unwind/cfi_cache.h"
#include "unwind/walk.h"

struct owners;

/* cfi must outlive it. */
struct owners *owners_new(struct cfi_cache *cfi);
void owners_free(struct owners *owners);

/* Steps to the owner's caller. If there is no owner, the walk is unchanged. */
bool owners_step(struct owners *owners, struct walk *walk);

#endif
