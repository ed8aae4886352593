/*
 * A forked child that writes what was recorded up to now, while this process goes on sampling. The
 * child shares the memory of prof as it was at the fork, and completes its work even if prof is
 * killed.
 */
#ifndef PROF_CMD_FORKED_WRITER_H
#define PROF_CMD_FORKED_WRITER_H

#include "base/loop.h"

#include <sys/types.h>

struct forked_writer_end {
	int status; /* as waitpid(2) gives it */
	uint64_t cpu_ns;
};

/* Zeroed: no child. */
struct forked_writer {
	pid_t pid;     /* 0: none */
	int all_ended; /* at its end when the child's children have ended, too */
	struct loop *loop;
	int pidfd;
	struct loop_watch *watch;
	/* Called by the loop, or by forked_writer_wait(), when the child has ended; another may be
	 * started then. */
	void (*ended)(void *user, const struct forked_writer_end *end);
	void *user;
};

/* Forks: child(user) is called in the child and returns its exit status. There must be none yet. */
MUST_CHECK struct error *
forked_writer_start(struct forked_writer *writer, struct loop *loop, int (*child)(void *user),
		    void (*ended)(void *user, const struct forked_writer_end *end), void *user);
/* Waits for the child, if there is one, and for its own children, also if the child is killed. */
void forked_writer_wait(struct forked_writer *writer);

#endif
