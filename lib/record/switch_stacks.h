/*
 * Samples of context switches, in place of looks at processes that the kernel does not let prof
 * look at (waiting_refusal.h), but sample.
 *
 * The kernel writes a sample with the stack when a thread leaves its CPU: it is the stack of the
 * wait that begins. That costs each switch some microseconds (4 to 6, where a record of a switch
 * costs 1), and at high rates the rings overflow. So it is used only where looks are refused when
 * the recording opens, and ends where there are more than SWITCH_STACKS_PER_SECOND on each CPU.
 */
#ifndef PROF_RECORD_SWITCH_STACKS_H
#define PROF_RECORD_SWITCH_STACKS_H

#include "record/config.h"
#include "record/session.h"
#include "record/waits.h"

enum { SWITCH_STACKS_PER_SECOND = 2000 };

struct switch_stacks;

/* NULL: no process of the target refuses looks, or the kernel may not be sampled. */
struct switch_stacks *switch_stacks_open(const struct record_config *config,
					 const struct pmus *pmus);
void switch_stacks_free(struct switch_stacks *stacks);
DEFINE_CLEANUP(switch_stacks, switch_stacks_free)

/* One of the processes that refuse looks. */
pid_t switch_stacks_refused(const struct switch_stacks *stacks);

MUST_CHECK struct error *switch_stacks_enable(struct switch_stacks *stacks);
/* Until they are enabled again. */
void switch_stacks_pause(struct switch_stacks *stacks);
void switch_stacks_disable(struct switch_stacks *stacks);
/* Readable when samples are worth reading. */
int switch_stacks_fd(const struct switch_stacks *stacks);

/* Tells `waits` of all samples up to until_ns; records before that must have been fed. */
void switch_stacks_feed(struct switch_stacks *stacks, uint64_t until_ns, struct session *session,
			struct waits *waits);
/* Whether more samples came lately than are allowed; those that were lost count. */
bool switch_stacks_are_too_many(struct switch_stacks *stacks, uint64_t now_ns);

#endif
