/*
 * Takes snapshots of off-CPU threads on a separate thread, the poller, so that
 * a read that hangs does not block the caller.
 *
 * A poller that sleeps in one snapshot for more than 100 ms is abandoned and
 * replaced, at most 16 times. The process on which it hung is not read again,
 * nor is any other process of the same user unless that user is root or prof's
 * own (base/hung_processes.h). A poller that is only runnable on a busy machine
 * is not abandoned. It asks the scheduler for short time slices, so that
 * snapshots take little time even then.
 *
 * Snapshots are returned in the order of their requests. A large copy of a
 * stack is freed when the next snapshot is taken, so the caller must limit how
 * many large copies it requests. All functions must be called from one thread.
 */
#ifndef PROF_WAITING_POLLERS_H
#define PROF_WAITING_POLLERS_H

#include "base/cleanup.h"
#include "waiting/thread_snapshot.h"

struct pollers;

/* `scripts` are borrowed; NULL to read no interpreter's frames. Returns NULL if
 * the system lacks the resources. */
struct pollers *pollers_new(struct scripts *scripts);
void pollers_free(struct pollers *pollers);
DEFINE_CLEANUP(pollers, pollers_free)

enum { POLLERS_ROOM = 256 };

/*
 * Requests a snapshot. Returns false if POLLERS_ROOM requests are already
 * pending or finished and not taken.
 */
bool pollers_ask(struct pollers *pollers, const struct thread_snapshot_request *request);
/*
 * Returns the next snapshot that has finished or was given up, or NULL if there
 * is none yet. The snapshot is borrowed until the next call. Only this call
 * gives up snapshots that hang, so call it regularly.
 */
const struct thread_snapshot *pollers_take(struct pollers *pollers);

#endif
