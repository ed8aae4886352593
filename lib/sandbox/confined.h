/*
 * Runs children of prof without privileges, to parse untrusted files.
 *
 * A confined process is a fork of prof, with prof's memory and mapped files,
 * and runs a function of prof. It has no descriptor but its channel. It cannot
 * open files or reach the network or other processes, and it runs as an
 * unprivileged user (sandbox/confinement.h, sandbox/syscall_filter.h). prof
 * opens files and passes them through the channel. The process may create
 * threads and allocate memory. Libraries that it needs must be loaded before
 * the fork. All of its messages are untrusted.
 *
 * It ends when its function returns, when it exceeds memory or CPU time, when
 * it crashes, with confined_end(), and with the *thread* that started it
 * (PR_SET_PDEATHSIG). Its end is reported as CHANNEL_CLOSED. A file that it has
 * mapped may be truncated: see signals_survive_cut_files().
 *
 * Starting one takes less than a millisecond, plus the time of fork(2) to copy
 * the page tables of prof's anonymous memory.
 */
#ifndef PROF_SANDBOX_CONFINED_H
#define PROF_SANDBOX_CONFINED_H

#include "sandbox/channel.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * The user id of "nobody", which owns no files. The owner of the file that is
 * read must not be used: that user could stop or slow down the process, and
 * prof would wait for it.
 */
enum { CONFINED_NOBODY = 65534 };

struct confined_limits {
	/*
	 * Private memory in addition to prof's at the start. Mapped memory
	 * counts, not touched memory: stacks of threads (thread_pool.c: 8 MiB
	 * each) and malloc()'s arenas count fully.
	 */
	uint64_t memory_bytes;
	unsigned cpu_seconds; /* total of all threads */
};

enum confined_outcome {
	CONFINED_RETURNED,
	CONFINED_KILLED, /* it was still running */
	CONFINED_OUT_OF_MEMORY,
	CONFINED_OUT_OF_TIME,
	CONFINED_CRASHED,
};

struct confined_end {
	enum confined_outcome outcome;
	/* The signal that ended a CONFINED_CRASHED process, or 0 if it
	 * exited. */
	int signal;
	uint64_t cpu_ns;
	/* Peak memory, including memory shared with prof; 0 if it was
	 * abandoned. */
	uint64_t peak_bytes;
};

/* Runs in the confined process, with its blocking end of the channel. */
typedef void confined_main(struct channel *channel, void *user);

struct confined;

/*
 * Returns after the process is confined. If prof is root, the process becomes
 * user `uid`, which must not be 0, without groups. Other threads of prof may
 * run. Fails if processes cannot be confined on this system, for instance
 * because the kernel lacks seccomp filters.
 */
MUST_CHECK struct error *confined_start(const struct confined_limits *limits, uid_t uid,
					confined_main *main, void *user, struct confined **ret);
/* Returns prof's end of the channel, which is non-blocking. Borrowed. */
struct channel *confined_channel(const struct confined *confined);
/* Returns the CPU time of all its threads so far. */
uint64_t confined_cpu_ns(const struct confined *confined);
/* Returns whether a thread of it is running or runnable. */
bool confined_wants_cpu(const struct confined *confined);
/* Returns whether a signal such as SIGSTOP has stopped it. */
bool confined_is_stopped(const struct confined *confined);
/*
 * Kills the process if it is still running, frees it, and returns how it ended.
 * NULL is not allowed. Takes at most a second, or until a busy machine has a CPU
 * for the process to end on. A process that the kernel cannot end yet, because
 * it waits for an unresponsive file system, is abandoned and counts as killed.
 */
struct confined_end confined_end(struct confined *confined);

#endif
