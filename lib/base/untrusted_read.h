/*
 * Reads another process's memory on a thread that may never return from the
 * read.
 *
 * The other process can make its memory hang: with a page of a userfaultfd
 * range, or of a file on a FUSE server that does not respond. No timeout of the
 * kernel ends such a read, and the thread cannot be joined. Therefore another
 * thread abandons it. The reading thread then owns its memory alone, frees it
 * if the read ever returns, and ends.
 */
#ifndef PROF_BASE_UNTRUSTED_READ_H
#define PROF_BASE_UNTRUSTED_READ_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum untrusted_read_state { UNTRUSTED_READ_NONE, UNTRUSTED_READ_RUNS, UNTRUSTED_READ_ABANDONED };

/* Zeroed: no read is in progress. */
struct untrusted_read {
	atomic_int state;
	_Atomic uint64_t since_ns;
	_Atomic pid_t pid;
};

static inline void untrusted_read_begin(struct untrusted_read *read, pid_t pid)
{
	atomic_store(&read->pid, pid);
	atomic_store(&read->since_ns, clock_now_ns());
	atomic_store(&read->state, UNTRUSTED_READ_RUNS);
}

/*
 * Returns false if the read was abandoned. The thread may then touch only what
 * it owns itself.
 */
static inline bool untrusted_read_end(struct untrusted_read *read)
{
	int expected = UNTRUSTED_READ_RUNS;

	return atomic_compare_exchange_strong(&read->state, &expected, UNTRUSTED_READ_NONE);
}

/*
 * For the other thread: returns whether a read has run for at least timeout_ns.
 */
static inline bool untrusted_read_has_lasted(const struct untrusted_read *read, uint64_t timeout_ns)
{
	return atomic_load(&read->state) == UNTRUSTED_READ_RUNS &&
	       clock_now_ns() - atomic_load(&read->since_ns) >= timeout_ns;
}

/*
 * For the other thread: abandons a read that has run for at least timeout_ns,
 * and stores the process whose memory it reads.
 */
static inline bool untrusted_read_abandon(struct untrusted_read *read, uint64_t timeout_ns,
					  pid_t *ret)
{
	int expected = UNTRUSTED_READ_RUNS;

	if (atomic_load(&read->state) != UNTRUSTED_READ_RUNS)
		return false;
	/*
	 * The pid belongs to this read until it is abandoned. Afterwards the
	 * reading thread may free the memory.
	 */
	*ret = atomic_load(&read->pid);
	return clock_now_ns() - atomic_load(&read->since_ns) >= timeout_ns &&
	       atomic_compare_exchange_strong(&read->state, &expected, UNTRUSTED_READ_ABANDONED);
}

#endif
