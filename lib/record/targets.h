/*
 * The processes and threads that a recording is attached to. Detects when they
 * have ended.
 */
#ifndef PROF_RECORD_TARGETS_H
#define PROF_RECORD_TARGETS_H

#include "base/loop.h"
#include "record/config.h"

struct targets {
	struct loop *loop;
	struct target_process *processes;
	size_t count, left; /* requested processes, and those that still run */
	const pid_t *tids;
	size_t tid_count;
	loop_callback *ended; /* called when the last process has ended */
	void *user;
};

/* Borrows the lists of config. Does not wait for any process if others may join
 * (config->target.choice). Always call targets_close(), also after an error. */
MUST_CHECK struct error *targets_open(struct targets *targets, const struct record_config *config,
				      struct loop *loop, loop_callback *ended, void *user);
void targets_close(struct targets *targets);
/* Whether all have ended. Returns false if there are none. Reads /proc for each
 * thread of config->target.tids. */
bool targets_have_ended(const struct targets *targets);

/* Lists the processes in /proc that belong to the user, without this one. The
 * caller frees *ret. */
void targets_of_user(uid_t user, pid_t **ret, size_t *ret_count);

/* Returns the process whose program is the profile's main module: the command,
 * or the first requested process. Returns 0 if there is none. */
pid_t targets_main_process(const struct record_config *config);

/* Returns the process of a thread, or 0 if the thread has ended. */
pid_t process_of_thread(pid_t tid);

#endif
