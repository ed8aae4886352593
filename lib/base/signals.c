#include "base/signals.h"

#include "base/alloc.h"
#include "base/mapped_file.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR2};

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/*
 * Maps zeros for the rest of the block: see mapped_file.h. Returning repeats
 * the access. The mapping is read-only, so that the kernel does not count it as
 * memory (RLIMIT_DATA) and adjacent blocks are one mapping.
 */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	const uintptr_t block = MAPPED_FILE_BLOCK_BYTES, page = (uintptr_t)getpagesize();
	uintptr_t at = (uintptr_t)info->si_addr & ~(page - 1);
	int before = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap((void *)at, block - at % block, PROT_READ,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		signal(number, SIG_DFL);
	errno = before;
}

void signals_survive_cut_files(void)
{
	const struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};

	sigaction(SIGBUS, &action, NULL);
}

static void do_nothing(int number)
{
	(void)number;
}

void signals_fail_at_size_limit(void)
{
	const struct sigaction action = {.sa_handler = do_nothing, .sa_flags = SA_RESTART};

	if (!is_ignored(SIGXFSZ))
		sigaction(SIGXFSZ, &action, NULL);
}

void signals_die_by(int number)
{
	signal(number, SIG_DFL);
	signal_guard_raise(number);
}

struct error *signals_open(struct signals *ret)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction standard = {.sa_handler = SIG_DFL};

	sigemptyset(&ret->watched);
	/* A blocked signal arrives even if it is ignored. */
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		if (watched[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&ret->watched, watched[i]);
	sigaction(SIGPIPE, &ignore, &ret->pipe_before);
	sigaction(SIGCHLD, &standard, &ret->child_before);
	sigprocmask(SIG_BLOCK, &ret->watched, &ret->mask_before);
	return signal_guard_start(&ret->watched, &ret->guard);
}

struct error *signals_after_fork(struct signals *signals)
{
	return signal_guard_start(&signals->watched, &signals->guard);
}

void signals_restore(const struct signals *signals)
{
	sigaction(SIGPIPE, &signals->pipe_before, NULL);
	sigaction(SIGCHLD, &signals->child_before, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

void signals_close(struct signals *signals)
{
	if (!signals->guard)
		return;
	signal_guard_stop(signals->guard);
	signals->guard = NULL;
	/*
	 * No thread receives the signals any more, so each of them ends prof.
	 * SIGPIPE stays ignored, because main() still writes.
	 */
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}
