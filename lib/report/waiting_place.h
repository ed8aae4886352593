/*
 * Finds the blocking function: the one that gets the self time of a wait.
 *
 * An off-CPU stack ends in a synthetic frame, the reason ("[futex]"). Self time
 * of this frame, or of the C library function that makes the system call, would
 * not be informative. Therefore the self time belongs to the innermost function
 * of the program, or of its libraries, that caused the wait. The candidates, in
 * this order, are
 * - the innermost function of an interpreter or JIT that is not part of the
 *   language's runtime,
 * - the innermost native function that is not part of the kernel, a C library
 *   or a language's runtime,
 * - the innermost function of a runtime,
 * - the innermost function of a C library,
 * - the innermost function of the kernel,
 * - the leaf.
 *
 * The reason may be followed by "[woken by NAME]" and the waker's frames, which
 * are ignored.
 */
#ifndef PROF_REPORT_WAITING_PLACE_H
#define PROF_REPORT_WAITING_PLACE_H

#include "report/display_labels.h"

/*
 * The order of candidates. The blocking function of a stack has the lowest
 * rank; among several it is the innermost one.
 */
enum waiting_rank {
	RANK_SCRIPT,
	RANK_NATIVE,
	RANK_RUNTIME,
	RANK_C_LIBRARY,
	RANK_KERNEL,
	RANKS, /* not a candidate: reasons and other notes */
};

enum waiting_rank waiting_rank_of(const struct display_labels *labels, uint32_t label);

/*
 * Returns for each stack, of any event, the index in labels->lines. STACK_EMPTY
 * has no line. The caller frees the result.
 */
uint32_t *waiting_places(const struct display_labels *labels);

/*
 * Returns the part of a stack that ends in its reason: the whole stack, or
 * without the waker's frames. Returns STACK_EMPTY if there is no reason.
 */
stack_id waiting_reason(const struct profile *profile, stack_id stack);

#endif
