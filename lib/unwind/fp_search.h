/*
 * Finds the frame pointer of a function if neither a register nor an inner
 * frame provides it. For a thread that sleeps in the kernel only the stack
 * pointer and the pc are known, for example.
 *
 * The CFI of a function with a frame pointer describes where the caller's
 * registers are saved relative to it. So each word of the stack is a candidate
 * for the frame pointer. Most candidates are impossible: the return address
 * that they lead to must follow a call of this function, or of a function that
 * can jump to it. If the function's code reserves a fixed number of bytes for
 * its frame, one word remains.
 *
 * Otherwise (alloca), the frame can contain remains of earlier calls with
 * plausible return addresses. The search then walks from each candidate to the
 * end of the stack, and at each step the call must be of the function that
 * returns. The frame pointer is found only if exactly one candidate is
 * possible.
 *
 * In code without CFI that keeps frame pointers (stripped Go programs), the
 * called function must set up a frame pointer before the pc and only once, and
 * its frame must be as large as its code reserves.
 *
 * A search is expensive: it takes microseconds, and milliseconds at worst.
 */
#ifndef PROF_UNWIND_FP_SEARCH_H
#define PROF_UNWIND_FP_SEARCH_H

#include "unwind/cfi_cache.h"
#include "unwind/walk.h"

struct fp_search;

/*
 * `cfi` must outlive the search. step(user, walk) moves the walk to the caller
 * or stops it.
 */
struct fp_search *fp_search_new(struct cfi_cache *cfi, bool (*step)(void *user, struct walk *walk),
				void *user);
void fp_search_free(struct fp_search *search);

/*
 * Finds and sets the missing frame pointer of a walk. If it returns false, only
 * the walk's stop reason and needed stack size have changed.
 */
bool fp_search_find(struct fp_search *search, struct walk *walk);

#endif
