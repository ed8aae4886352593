/*
 * Joins samples with the user part of their call chain if the kernel writes it
 * in a later record.
 *
 * With perf_event_attr.defer_callchain (Linux 6.19) the call chain of a sample
 * ends with a cookie. The kernel walks the user stack when the thread returns
 * to user space, and then writes a RECORD_DEFERRED_CHAIN with the same thread
 * and cookie. All samples of one entry into the kernel have the same cookie,
 * whatever their event. Some of them may be taken after that record was
 * written. A thread may block in between for any time.
 *
 * Samples are copied into a queue. A sample is released without its user part
 * if
 *  - a user part of the same thread with another cookie arrives, because its
 *    own was lost;
 *  - the thread ends or executes another program;
 *  - the queue is too long. Then all samples are released, and user parts that
 *    were kept for later samples are dropped first.
 *
 * Samples of different threads are released in any order.
 *
 * Source: unwind_deferred_request() in kernel/unwind/deferred.c,
 * perf_callchain() in kernel/events/core.c.
 */
#ifndef PROF_RECORD_DEFERRED_CHAINS_H
#define PROF_RECORD_DEFERRED_CHAINS_H

#include "base/cleanup.h"
#include "perf/record.h"

struct deferred_chains;

/*
 * Takes a released sample, which is borrowed. labels is the value that was
 * passed with the sample.
 *
 * If the user part was found, user_chain is set. If it is missing,
 * is_chain_deferred is still set. Neither is set for a sample in execve(2),
 * whose stack is gone. Only the kernel chain is kept of the other variable-size
 * parts of the sample.
 */
typedef void deferred_sample_fn(void *user, const struct record *sample, uint32_t labels);

struct deferred_chains *deferred_chains_new(deferred_sample_fn *give, void *user);
/* Drops the queued samples. */
void deferred_chains_free(struct deferred_chains *chains);
DEFINE_CLEANUP(deferred_chains, deferred_chains_free)

/* Queues a sample, whose is_chain_deferred must be set. Releases it immediately
 * if its user part has already arrived. */
void deferred_chains_add_sample(struct deferred_chains *chains, const struct record *sample,
				uint32_t labels);
/* Takes a RECORD_DEFERRED_CHAIN. Returns false if no sample was waiting for
 * it. */
bool deferred_chains_add_chain(struct deferred_chains *chains, const struct record *record);
void deferred_chains_end_thread(struct deferred_chains *chains, pid_t tid);
/* Must be called when the thread has executed another program. */
void deferred_chains_exec(struct deferred_chains *chains, pid_t tid);
/* Releases all queued samples. */
void deferred_chains_end_all(struct deferred_chains *chains);

#endif
