/*
 * The processes and threads that are sampled where there is no command: which, and have they ended?
 */
#ifndef PROF_CMD_TARGETS_H
#define PROF_CMD_TARGETS_H

#include "cmd/sampling_options.h"

#include <poll.h>

struct targets {
	struct pollfd
		*fds; /* readable when the processes of -p have ended; -1 where there is none */
	size_t count;
	const struct id_list *tids;
};

/* Borrows both. */
void targets_open(struct targets *targets, const struct id_list *pids, const struct id_list *tids);
void targets_close(struct targets *targets);
/* False where there are none that could. */
bool targets_have_ended(struct targets *targets);

/* Where a user is given, his processes become those that are sampled, but for prof itself. */
MUST_CHECK struct error *targets_find(struct sampling_options *options);

/* Of any of its threads, as -p takes them; 0 when the thread is gone. */
pid_t process_of_thread(pid_t tid);

#endif
