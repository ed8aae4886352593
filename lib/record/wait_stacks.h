/*
 * Builds the stacks of waits: the user frames of a thread snapshot, the kernel
 * functions if they could be read, and the reason as the leaf.
 *
 * If a lock records its holder, the leaf is "[mutex held by NAME in FUNCTION]".
 * The function is the innermost one of the holder that is not in the library in
 * which the holder waits.
 */
#ifndef PROF_RECORD_WAIT_STACKS_H
#define PROF_RECORD_WAIT_STACKS_H

#include "record/session.h"
#include "waiting/thread_snapshot.h"

struct wait_stack {
	stack_id stack;
	uint32_t lacks_bytes; /* the stack is cut off: a snapshot should copy this many bytes; 0 if
				 it is complete */
	/* The functions of a script are unknown. needs_script: a snapshot can
	 * read them from now on. */
	bool lacks_script, needs_script;
};

/* Returns the stack of a validated thread snapshot. knows_holder is set if the
 * thread of snapshot->holder did not run during the read. `scripts` are those of
 * the pollers. */
struct wait_stack wait_stack_of(struct session *session, struct scripts *scripts,
				const struct thread_snapshot *snapshot, bool knows_holder);
/* Returns the stack of a thread that could not be read: only the reason. */
stack_id wait_stack_of_reason(struct session *session, const char *reason);
/* Returns the stack of a wait from the kernel's sample at its start. */
stack_id wait_stack_of_sample(struct session *session, stack_id stack);
/* Returns the stack for time in which a thread was runnable: `stack`, without
 * its leaf if has_reason is set, and the leaf for this state. */
stack_id wait_stack_wanting_cpu(struct session *session, stack_id stack, bool has_reason);

/* Returns the stack of a waker: the stack of its sample, with the leaf "[woken
 * by NAME]". name is NULL for an interrupt. */
stack_id wait_stack_of_waker(struct session *session, const struct record *waker, const char *name);
/* Returns the stack of a wait followed by that of the waker from leaf to root,
 * so that the two leaves meet in the middle. */
stack_id wait_stack_woken(struct session *session, stack_id wait, stack_id waker);

#endif
