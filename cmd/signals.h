/*
 * Signals as a descriptor: SIGINT, SIGTERM, SIGHUP and SIGUSR2 are blocked and read through
 * signalfd(2), without handlers. One that was ignored when prof started (nohup, a job in the
 * background of a script) stays ignored. SIGPIPE becomes an error of write(2), SIGCHLD is made to
 * leave children to be waited for. A child gets everything back as it was before it runs another
 * program.
 */
#ifndef PROF_CMD_SIGNALS_H
#define PROF_CMD_SIGNALS_H

#include "base/error.h"

#include <signal.h>
#include <stdbool.h>

struct signals {
	int fd; /* readable when a signal has come; -1: not opened */
	sigset_t mask_before;
	struct sigaction pipe_before, child_before;
};

struct received_signal {
	int number;
	bool by_terminal; /* the kernel's own: it went to the command as well */
};

/*
 * Somebody may cut a file short that we have mapped, at any moment (a program is installed over the
 * one that runs): what is gone reads as zeros from then on, instead of ending prof by SIGBUS. This
 * takes the one handler there is, for a fault cannot wait.
 */
void signals_survive_cut_files(void);

MUST_CHECK struct error *signals_open(struct signals *ret);
void signals_close(struct signals *signals);
/* In a child, before it runs another program. */
void signals_restore(const struct signals *signals);
/* False: none has come. Does not wait. */
bool signals_next(const struct signals *signals, struct received_signal *ret);

/* Ends prof by the signal, as it would have ended without us; leaves no core file. */
__attribute__((noreturn)) void signals_die(int number);

#endif
