/*
 * The stacks of waits: user frames, as a look read them, the kernel's functions if they could be
 * read, and the reason as the leaf.
 *
 * A lock that tells who holds it has the leaf "[mutex held by NAME in FUNCTION]". The function is
 * the innermost of the holder's that does not belong to the library that it waits in.
 */
#ifndef PROF_RECORD_WAIT_STACKS_H
#define PROF_RECORD_WAIT_STACKS_H

#include "record/session.h"
#include "waiting/look.h"

struct wait_stack {
	stack_id stack;
	uint32_t lacks_bytes; /* it is cut off: a look should copy so many of the stack; 0: it is
				 not */
};

/*
 * The stack of a look that was proved. knows_holder: the thread that look->holder names did not run
 * while it was looked at.
 */
struct wait_stack wait_stack_of(struct session *session, const struct look *look,
				bool knows_holder);
/* Of a thread whose stack could not be read: just the reason. */
stack_id wait_stack_of_reason(struct session *session, const char *reason);
/* Of a sample that the kernel has written when the wait began. */
stack_id wait_stack_of_sample(struct session *session, stack_id stack);
/* Where a thread has wanted a CPU: at this stack, which ends in a reason if has_reason is set. */
stack_id wait_stack_wanting_cpu(struct session *session, stack_id stack, bool has_reason);

/*
 * Who woke a thread: the stack of a sample of the waker, with the leaf "[woken by NAME]"; name
 * NULL: an interrupt.
 */
stack_id wait_stack_of_waker(struct session *session, const struct record *waker, const char *name);
/* The stack of a wait, then that of the waker from its leaf to its root, so that the two meet in
 * the middle. */
stack_id wait_stack_woken(struct session *session, stack_id wait, stack_id waker);

#endif
