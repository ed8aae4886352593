/*
 * A read of another process's memory by a thread that may never return from it.
 *
 * The other process can make its memory hang: a page of a userfaultfd range, or of a file of a FUSE
 * server that does not answer. No timeout of the kernel ends such a read, and the thread cannot be
 * joined. So another thread abandons it: the reading thread then owns its memory alone, frees it
 * when the read returns after all, and ends.
 */
#ifndef PROF_BASE_FOREIGN_READ_H
#define PROF_BASE_FOREIGN_READ_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum foreign_read_state { FOREIGN_READ_NONE, FOREIGN_READ_RUNS, FOREIGN_READ_ABANDONED };

/* Zeroed: nothing is being read. */
struct foreign_read {
	atomic_int state;
	_Atomic uint64_t since_ns;
	_Atomic pid_t pid;
};

static inline void foreign_read_begin(struct foreign_read *read, pid_t pid)
{
	atomic_store(&read->pid, pid);
	atomic_store(&read->since_ns, clock_now_ns());
	atomic_store(&read->state, FOREIGN_READ_RUNS);
}

/* False: it was abandoned, and the thread may touch only what it owns itself. */
static inline bool foreign_read_end(struct foreign_read *read)
{
	int expected = FOREIGN_READ_RUNS;

	return atomic_compare_exchange_strong(&read->state, &expected, FOREIGN_READ_NONE);
}

/* For the other thread: whether a read has run for so long. */
static inline bool foreign_read_has_lasted(const struct foreign_read *read, uint64_t patience_ns)
{
	return atomic_load(&read->state) == FOREIGN_READ_RUNS &&
	       clock_now_ns() - atomic_load(&read->since_ns) >= patience_ns;
}

/* For the other thread: abandons the read if it has run for so long, and says whose memory it is.
 */
static inline bool foreign_read_abandon(struct foreign_read *read, uint64_t patience_ns, pid_t *ret)
{
	int expected = FOREIGN_READ_RUNS;

	if (atomic_load(&read->state) != FOREIGN_READ_RUNS)
		return false;
	/* Now it is that of this read, and once it is abandoned its memory may be freed. */
	*ret = atomic_load(&read->pid);
	return clock_now_ns() - atomic_load(&read->since_ns) >= patience_ns &&
	       atomic_compare_exchange_strong(&read->state, &expected, FOREIGN_READ_ABANDONED);
}

#endif
