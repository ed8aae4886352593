/*
 * Which function waits: the one whose self time a wait is.
 *
 * A stack of waiting ends in a synthetic frame, the reason ("[futex]"). As the leaf it would have
 * all self time, and that says nothing; nor do the functions of the C library that make the system
 * call. So the self time of such a stack belongs to the innermost function of the program, or of
 * its libraries, that chose to wait. It is, in this order,
 * - the innermost one of an interpreter or JIT that does not come with the language,
 * - the innermost native one that is not of the kernel, a C library or a language's runtime,
 * - the innermost one of a runtime, - of a C library, - of the kernel, - the leaf.
 * Who ended the wait may follow the reason: "[woken by NAME]" and the waker's frames, which have no
 * part in this.
 */
#ifndef PROF_REPORT_WAITING_PLACE_H
#define PROF_REPORT_WAITING_PLACE_H

#include "report/display_labels.h"

/* How little a function chose to wait: the lowest rank of a stack is that of its place, the
 * innermost of several. */
enum waiting_rank {
	RANK_SCRIPT,
	RANK_NATIVE,
	RANK_RUNTIME,
	RANK_C_LIBRARY,
	RANK_KERNEL,
	RANKS, /* no place: reasons and other notes */
};

enum waiting_rank waiting_rank_of(const struct display_labels *labels, uint32_t label);

/* By stack, of any event: the index in labels->lines. To be freed. STACK_EMPTY has no line. */
uint32_t *waiting_places(const struct display_labels *labels);

/* The part of a stack that ends in its reason: all of it, or without the waker. STACK_EMPTY: it has
 * no reason. */
stack_id waiting_reason(const struct profile *profile, stack_id stack);

#endif
