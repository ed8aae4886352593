/*
 * The thread that receives signals. It passes them to the main thread through a
 * pipe, and ends the process if the main thread does not handle them.
 *
 * The main thread can be stuck where no signal reaches it: writing to a pipe
 * without a reader or to a stopped terminal, or reading a file of a server that
 * does not respond. Therefore the guard counts the signals that ask prof to end
 * (all except SIGUSR2) and ends prof with the last of them
 *
 * - after the first one: if prof has stood still for 5 s. This does not apply
 *   if that signal was typed on the terminal: a pager may be reading slowly,
 *   and the user can press Ctrl-C again;
 * - after the second one: if prof has stood still for 1 s, or at once if the
 *   main thread had not taken the first one for 1 s;
 * - at the third one, unconditionally.
 *
 * Signals within 100 ms of each other count as one, because timeout(1) sends
 * two: to its child and to its group. prof stands still while none of the
 * relevant threads is running or runnable (enum signal_phase). After the first
 * signal, waiting for a disk (state D) is progress. Time in which prof is
 * stopped does not count.
 *
 * The guard ends prof by unblocking the signal and raising it, so that an
 * installed handler runs (the one that restores the terminal).
 */
#ifndef PROF_BASE_SIGNAL_GUARD_H
#define PROF_BASE_SIGNAL_GUARD_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct signal_guard;

/*
 * Unblocks a signal and raises it. If that does not end the process, as for the
 * first process of a container, exits with 128 + number. May be called in
 * signal handlers.
 */
__attribute__((noreturn)) void signal_guard_raise(int number);

struct received_signal {
	int number;
	bool by_terminal; /* sent by the kernel: the recorded command received it, too */
};

enum signal_phase {
	SIGNAL_PHASE_WORKING, /* progress of any thread counts */
	/*
	 * Only progress of the main thread counts, because it takes signals at
	 * once.
	 */
	SIGNAL_PHASE_LISTENING,
	/*
	 * Like LISTENING, but the main thread may stand still after the first
	 * signal.
	 */
	SIGNAL_PHASE_WAITING,
};

/*
 * For the main thread. The signals must be blocked in all threads, and stay
 * blocked.
 */
MUST_CHECK struct error *signal_guard_start(const sigset_t *signals, struct signal_guard **ret);
/* Accepts NULL. */
void signal_guard_stop(struct signal_guard *guard);

/*
 * Returns a descriptor that is readable when a signal is pending. The guard
 * owns it.
 */
int signal_guard_fd(const struct signal_guard *guard);
/* Returns false if no signal is pending. Does not wait. */
bool signal_guard_next(struct signal_guard *guard, struct received_signal *ret);

/* Sets the phase. The initial phase is SIGNAL_PHASE_WORKING. */
void signal_guard_begin(struct signal_guard *guard, enum signal_phase phase);
/*
 * Sets the child that gets the signal with which the guard ends prof, unless it
 * was typed on the terminal. 0 means none.
 */
void signal_guard_pass_on_to(struct signal_guard *guard, pid_t child);

#endif
