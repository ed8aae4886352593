/*
 * Signals as a descriptor. SIGINT, SIGTERM, SIGHUP and SIGUSR2 are blocked, and
 * a thread receives them (signal_guard.h) without handlers. SIGHUP stays
 * ignored if it was ignored when prof started (nohup). An ignored SIGINT is
 * accepted nevertheless: a shell without job control starts background jobs
 * with SIGINT ignored, but its script may end prof with kill -INT. SIGPIPE is
 * ignored, so that write(2) fails with EPIPE. SIGCHLD gets its default action,
 * so that children can be waited for. signals_restore() restores the original
 * mask and dispositions in a child.
 */
#ifndef PROF_BASE_SIGNALS_H
#define PROF_BASE_SIGNALS_H

#include "base/error.h"
#include "base/signal_guard.h"

#include <signal.h>
#include <stdbool.h>

struct signals {
	struct signal_guard *guard; /* the source of signals; NULL means not opened */
	sigset_t watched, mask_before;
	struct sigaction pipe_before, child_before;
};

/*
 * Makes missing pages of a mapped file (mapped_file.h), and the rest of their
 * block, read as zeros instead of ending prof with SIGBUS. A file can be
 * truncated at any time, for instance when a running program is installed
 * again. Works in all threads and in forked children.
 */
void signals_survive_cut_files(void);

/*
 * Makes write(2) beyond RLIMIT_FSIZE fail with EFBIG instead of ending prof
 * with SIGXFSZ. It installs an empty handler, because programs that prof
 * executes would inherit an ignored signal.
 */
void signals_fail_at_size_limit(void);

/* For the main thread, before it starts others. */
MUST_CHECK struct error *signals_open(struct signals *ret);
void signals_close(struct signals *signals);
/*
 * For a child that continues as prof, because threads do not survive fork(2).
 */
MUST_CHECK struct error *signals_after_fork(struct signals *signals);
/*
 * Ends prof by the default action of a signal. May be called in a signal
 * handler. If that does not end it, as for the first process of a container,
 * exits with the status that a shell uses for the signal.
 */
__attribute__((noreturn)) void signals_die_by(int number);

/* For a child, before it executes another program. */
void signals_restore(const struct signals *signals);

#endif
