/*
 * Confined processes: children of prof that parse foreign files without any rights.
 *
 * A confined process is a fork of prof, so it has what prof has in memory, mapped files included,
 * and runs a function of prof. It has no descriptor but its channel, opens no file, reaches no
 * network and no other process, and runs as a user without rights (sandbox/confinement.h,
 * sandbox/syscall_filter.h). Files are opened by prof and passed through the channel. It may use
 * threads and allocate; libraries that it needs must be loaded before. Whatever it sends is to be
 * treated as hostile.
 *
 * It ends when its function returns, when it runs out of memory or CPU time, by a fault, with
 * confined_end(), and with the *thread* that has started it (PR_SET_PDEATHSIG). Its end shows as
 * CHANNEL_CLOSED. A file that it has mapped may be truncated: see signals_survive_cut_files().
 *
 * Starting one takes 0.4 ms, and as fork(2) copies page tables, 4 ms more for each 100 MB of prof's
 * anonymous memory; mapped files cost nothing.
 */
#ifndef PROF_SANDBOX_CONFINED_H
#define PROF_SANDBOX_CONFINED_H

#include "sandbox/channel.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * "nobody", who owns no files. Not the owner of a file that is read: he could signal and slow down
 * what is his, and prof would wait for it.
 */
enum { CONFINED_NOBODY = 65534 };

struct confined_limits {
	/*
	 * Private memory beyond what prof has at the start, as mapped, not as touched: stacks of
	 * threads (thread_pool.c: 8 MiB each) and malloc()'s arenas count whole.
	 */
	uint64_t memory_bytes;
	unsigned cpu_seconds; /* of all threads together */
};

enum confined_outcome {
	CONFINED_RETURNED,
	CONFINED_KILLED, /* it still ran */
	CONFINED_OUT_OF_MEMORY,
	CONFINED_OUT_OF_TIME,
	CONFINED_CRASHED,
};

struct confined_end {
	enum confined_outcome outcome;
	int signal; /* CONFINED_CRASHED: which ended it; 0: it exited */
	uint64_t cpu_ns;
	uint64_t peak_bytes; /* of memory, what it shares with prof included; 0: left behind */
};

/* Runs in the confined process, with its end of the channel, which blocks. */
typedef void confined_main(struct channel *channel, void *user);

struct confined;

/*
 * Returns when the process is confined. If prof is root it becomes user `uid`, which must not be
 * 0, without groups. Other threads may run. Fails if a process cannot be confined here, for
 * instance because the kernel has no seccomp filters.
 */
MUST_CHECK struct error *confined_start(const struct confined_limits *limits, uid_t uid,
					confined_main *main, void *user, struct confined **ret);
/* Our end, non-blocking; borrowed. */
struct channel *confined_channel(const struct confined *confined);
/* CPU time of all its threads so far. */
uint64_t confined_cpu_ns(const struct confined *confined);
/* Whether a thread of it runs, or would if it had a CPU. */
bool confined_wants_cpu(const struct confined *confined);
/* Whether a signal such as SIGSTOP has stopped it, and no SIGCONT has come since. */
bool confined_is_stopped(const struct confined *confined);
/*
 * Kills it if it still runs, and frees it; says how it has ended. NULL is not allowed. Takes a
 * second at most: a process that the kernel cannot end yet, because it waits for a file system
 * that does not answer, is left behind and counts as killed.
 */
struct confined_end confined_end(struct confined *confined);

#endif
