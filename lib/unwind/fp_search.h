/*
 * Finds the frame pointer that a function needs to be left, where no register and no frame below
 * it tells: what is known of a thread that sleeps in the kernel is its stack pointer and its pc.
 *
 * Functions with a frame pointer say by CFI where they save their caller's, relative to their own.
 * So each word of the stack can be taken as the frame pointer. Most of them are impossible: a call
 * must precede the return address that they lead to, of this function, or of one that can jump to
 * it. If the function's code reserves a fixed number of bytes for its frame, that leaves one word.
 * Otherwise (alloca) the frames of former calls may be left in the frame, with return addresses
 * that look true. Then the walk from each is followed to its end, and at each step the call must be
 * of the function that is left. The frame pointer is found if one word alone is possible; else it
 * is unknown.
 *
 * In code without CFI that keeps frame pointers (stripped Go programs) the called function must set
 * up a frame pointer, before the pc and only once, and its frame must be as large as its code says.
 *
 * A search takes a few microseconds, and at most some milliseconds.
 */
#ifndef PROF_UNWIND_FP_SEARCH_H
#define PROF_UNWIND_FP_SEARCH_H

#include "unwind/cfi_cache.h"
#include "unwind/walk.h"

struct fp_search;

/* cfi must outlive it. step(user, walk) moves the walk to the caller, or stops it. */
struct fp_search *fp_search_new(struct cfi_cache *cfi, bool (*step)(void *user, struct walk *walk),
				void *user);
void fp_search_free(struct fp_search *search);

/*
 * Sets the frame pointer of a walk that could not be left without it. False: the walk is unchanged
 * but for why it stopped and what of the stack it needs.
 */
bool fp_search_find(struct fp_search *search, struct walk *walk);

#endif
