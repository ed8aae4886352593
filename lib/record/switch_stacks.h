/*
 * Samples context switches of processes for which the kernel refuses thread
 * snapshots (waiting_refusal.h) but allows sampling.
 *
 * The kernel writes a sample with the stack when a thread leaves its CPU. This
 * is the stack of the wait that starts. It costs each switch several times as
 * much as a switch record, and at high rates the rings overflow. So it is used
 * only if snapshots are refused when the recording opens, and ends above
 * SWITCH_STACKS_PER_SECOND on each CPU.
 */
#ifndef PROF_RECORD_SWITCH_STACKS_H
#define PROF_RECORD_SWITCH_STACKS_H

#include "record/config.h"
#include "record/session.h"
#include "record/waits.h"

enum { SWITCH_STACKS_PER_SECOND = 2000 };

struct switch_stacks;

/* Returns NULL if all processes of the target allow snapshots, or if the kernel
 * may not be sampled. */
struct switch_stacks *switch_stacks_open(const struct record_config *config,
					 const struct pmus *pmus);
void switch_stacks_free(struct switch_stacks *stacks);
DEFINE_CLEANUP(switch_stacks, switch_stacks_free)

/* Returns one of the processes that refuse snapshots. */
pid_t switch_stacks_refused(const struct switch_stacks *stacks);

MUST_CHECK struct error *switch_stacks_enable(struct switch_stacks *stacks);
/* Stops until the samples are enabled again. */
void switch_stacks_pause(struct switch_stacks *stacks);
void switch_stacks_disable(struct switch_stacks *stacks);
/* Readable when there are enough samples to read. */
int switch_stacks_fd(const struct switch_stacks *stacks);

/* Passes all samples up to until_ns to `waits`. Records before that time must
 * have been fed. */
void switch_stacks_feed(struct switch_stacks *stacks, uint64_t until_ns, struct session *session,
			struct waits *waits);
/* Whether the recent rate of samples, including lost ones, exceeds the
 * limit. */
bool switch_stacks_are_too_many(struct switch_stacks *stacks, uint64_t now_ns);

#endif
