/*
 * Signals as a descriptor: SIGINT, SIGTERM, SIGHUP and SIGUSR2 are blocked, and a thread receives
 * them (signal_guard.h), without handlers. Of these only SIGHUP stays ignored if it was ignored
 * when prof started (nohup). A shell without job control starts background jobs with SIGINT
 * ignored, but the script that starts prof so wants to end it with kill -INT. SIGPIPE is ignored,
 * so that write(2) fails with EPIPE. SIGCHLD gets its default action, so that children can be
 * waited for. signals_restore() undoes all of it in a child: a command gets the mask and the
 * dispositions that prof was started with.
 */
#ifndef PROF_BASE_SIGNALS_H
#define PROF_BASE_SIGNALS_H

#include "base/error.h"
#include "base/signal_guard.h"

#include <signal.h>
#include <stdbool.h>

struct signals {
	struct signal_guard *guard; /* gives out the signals; NULL: not opened */
	sigset_t watched, mask_before;
	struct sigaction pipe_before, child_before;
};

/*
 * A mapped file (mapped_file.h) can be truncated at any time, for instance when a running program
 * is installed again. Its pages that are gone, and the rest of their block, then read as zeros
 * instead of ending prof by SIGBUS. Works in all threads and in forked children.
 */
void signals_survive_cut_files(void);

/*
 * Lets write(2) beyond RLIMIT_FSIZE fail with EFBIG instead of ending prof by SIGXFSZ. By a handler
 * that does nothing: unlike an ignored signal it does not pass to the programs that prof runs.
 */
void signals_fail_at_size_limit(void);

/* For the main thread, before it starts others. */
MUST_CHECK struct error *signals_open(struct signals *ret);
void signals_close(struct signals *signals);
/* In a child that goes on as prof: threads do not survive fork(2). */
MUST_CHECK struct error *signals_after_fork(struct signals *signals);
/*
 * Ends prof by the default action of a signal, in a signal handler, too. Where that does not end
 * it, as the first process of a container, by the status that a shell makes of the signal.
 */
__attribute__((noreturn)) void signals_die_by(int number);

/* In a child, before it runs another program. */
void signals_restore(const struct signals *signals);

#endif
