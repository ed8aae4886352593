/*
 * Joins samples with the user parts of their call chains where the kernel writes these later.
 *
 * With perf_event_attr.defer_callchain (Linux 6.19) the call chain of a sample ends with a cookie.
 * The kernel walks the user stack when the thread returns to user space, and then writes a
 * RECORD_DEFERRED_CHAIN with the same thread and cookie. All samples of one entry into the kernel
 * have the same cookie, whichever event they are of; some may be taken after that record was
 * written. A thread may block in between for any time.
 *
 * A sample waits here as a copy. It is given out without its user part if
 *  - a user part of the same thread with another cookie comes: its own was lost;
 *  - the thread ends or executes another program;
 * *  - too many wait: then all are given out. What was kept for samples to come is forgotten first.
 * Samples of different threads are given out in any order.
 * Source: unwind_deferred_request() in kernel/unwind/deferred.c, perf_callchain() in
 * kernel/events/core.c.
 */
#ifndef PROF_RECORD_DEFERRED_CHAINS_H
#define PROF_RECORD_DEFERRED_CHAINS_H

#include "base/cleanup.h"
#include "perf/record.h"

struct deferred_chains;

/*
 * Takes a sample that no longer waits; it is borrowed. Its user_chain is set, or is_chain_deferred
 * still is: then the user part is missing. Of a sample in execve(2) neither is: the stack is gone.
 * Of its other parts only the kernel chain is kept. labels is what came with the sample.
 */
typedef void deferred_sample_fn(void *user, const struct record *sample, uint32_t labels);

struct deferred_chains *deferred_chains_new(deferred_sample_fn *give, void *user);
/* Drops what still waits. */
void deferred_chains_free(struct deferred_chains *chains);
DEFINE_CLEANUP(deferred_chains, deferred_chains_free)

/* sample.is_chain_deferred must be set. Gives it out at once if its user part has come before. */
void deferred_chains_add_sample(struct deferred_chains *chains, const struct record *sample,
				uint32_t labels);
/* False: no sample has waited for it. */
bool deferred_chains_add_chain(struct deferred_chains *chains, const struct record *record);
void deferred_chains_end_thread(struct deferred_chains *chains, pid_t tid);
/* The thread has executed another program. */
void deferred_chains_exec(struct deferred_chains *chains, pid_t tid);
/* Gives out all that wait. */
void deferred_chains_end_all(struct deferred_chains *chains);

#endif
