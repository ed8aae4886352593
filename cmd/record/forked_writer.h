/*
 * A forked child (base/forked_child.h) that works on everything recorded so far
 * while this process continues to sample. The loop waits for its end.
 */
#ifndef PROF_CMD_RECORD_FORKED_WRITER_H
#define PROF_CMD_RECORD_FORKED_WRITER_H

#include "base/forked_child.h"
#include "base/loop.h"

/* Zeroed without a child. */
struct forked_writer {
	pid_t pid;     /* 0 without a child */
	int all_ended; /* at its end when the child's own children have ended, too */
	struct loop *loop;
	int pidfd;
	struct loop_watch *watch;
	/* Called by the loop or by forked_writer_wait() when the child has
	 * ended. Another child may be started then. */
	void (*ended)(void *user, const struct forked_child_end *end);
	void *user;
};

/* Forks. Calls child(user) in the child, which returns its exit status. There
 * must not be a child yet. */
MUST_CHECK struct error *
forked_writer_start(struct forked_writer *writer, struct loop *loop, enum forked_child_life life,
		    int (*child)(void *user),
		    void (*ended)(void *user, const struct forked_child_end *end), void *user);
/* Waits for the child, if there is one, and for its own children, even if the
 * child is killed. */
void forked_writer_wait(struct forked_writer *writer);
/* Kills the child with SIGKILL, if there is one, and waits like
 * forked_writer_wait(). */
void forked_writer_kill(struct forked_writer *writer);

#endif
