/*
 * The thread that receives signals: it passes them to the main thread through a pipe, and ends the
 * process if the main thread does not attend to them.
 *
 * The main thread can be stuck where no signal reaches it: writing to a pipe that nobody reads or
 * to a stopped terminal, reading a file of a dead server. The guard therefore counts the signals
 * that ask prof to end (all but SIGUSR2) and ends it by the last of them
 *
 *  - after the first one: when prof has stood still for 5 s. It does not if that signal was typed
 *    on the terminal: a pager may be reading slowly, and the user can press Ctrl-C again;
 *  - after the second one: when prof has stood still for 1 s, or at once if the main thread had not
 *    taken the first one for 1 s;
 *  - at the third one, whatever prof does.
 *
 * Signals within 100 ms of each other count as one: timeout(1) sends two, to its child and to its
 * group. prof stands still while none of the threads that matter runs or wants to (enum
 * signal_phase). After the first signal, waiting for a disk (state D) is progress. Time in which
 * prof is stopped does not count.
 *
 * Dying means unblocking the signal and raising it, so a handler that is installed for it runs (the
 * one that restores the terminal).
 */
#ifndef PROF_BASE_SIGNAL_GUARD_H
#define PROF_BASE_SIGNAL_GUARD_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct signal_guard;

/*
 * Unblocks a signal and raises it. If that does not end the process, as in the first process of a
 * container, it exits with 128 + number. For signal handlers, too.
 */
__attribute__((noreturn)) void signal_guard_raise(int number);

struct received_signal {
	int number;
	bool by_terminal; /* sent by the kernel: the command got it, too */
};

enum signal_phase {
	SIGNAL_PHASE_WORKING,	/* any thread's progress is progress */
	SIGNAL_PHASE_LISTENING, /* only the main thread's is: it takes signals at once */
	SIGNAL_PHASE_WAITING,	/* the same, and it may stand still after the first signal */
};

/* For the main thread. The signals must be blocked, and stay so in all threads. */
MUST_CHECK struct error *signal_guard_start(const sigset_t *signals, struct signal_guard **ret);
/* NULL is allowed. */
void signal_guard_stop(struct signal_guard *guard);

/* Readable when a signal has come; owned by the guard. */
int signal_guard_fd(const struct signal_guard *guard);
/* False: none has come. Does not wait. */
bool signal_guard_next(struct signal_guard *guard, struct received_signal *ret);

/* SIGNAL_PHASE_WORKING at first. */
void signal_guard_begin(struct signal_guard *guard, enum signal_phase phase);
/* A child that gets the signal by which the guard ends prof, unless it was typed on the terminal.
 * 0: none. */
void signal_guard_pass_on_to(struct signal_guard *guard, pid_t child);

#endif
