#include "cmd/signals.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR2};

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/* Returning then tries the access again. */
static void put_zeros(int number, siginfo_t *info, void *context)
{
	size_t page = (size_t)getpagesize();
	void *at = (void *)((uintptr_t)info->si_addr & ~(page - 1));
	int before = errno;

	(void)context;
	if (info->si_code != BUS_ADRERR ||
	    mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		signal(number, SIG_DFL);
	errno = before;
}

void signals_survive_cut_files(void)
{
	const struct sigaction action = {.sa_sigaction = put_zeros, .sa_flags = SA_SIGINFO};

	sigaction(SIGBUS, &action, NULL);
}

struct error *signals_open(struct signals *ret)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	const struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	sigemptyset(&set);
	/* A blocked signal is kept even where it is ignored, so those must not be blocked. */
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		if (!is_ignored(watched[i]))
			sigaddset(&set, watched[i]);
	sigaction(SIGPIPE, &ignore, &ret->pipe_before);
	sigaction(SIGCHLD, &standard, &ret->child_before);
	sigprocmask(SIG_BLOCK, &set, &ret->mask_before);
	ret->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return ret->fd < 0 ? error_errno(errno, "open a descriptor for signals") : NULL;
}

void signals_restore(const struct signals *signals)
{
	sigaction(SIGPIPE, &signals->pipe_before, NULL);
	sigaction(SIGCHLD, &signals->child_before, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask_before, NULL);
}

void signals_close(struct signals *signals)
{
	close_fd(&signals->fd);
	/* SIGPIPE stays ignored: main() still writes. */
}

bool signals_next(const struct signals *signals, struct received_signal *ret)
{
	struct signalfd_siginfo info;

	if (read(signals->fd, &info, sizeof(info)) != sizeof(info))
		return false;
	ret->number = (int)info.ssi_signo;
	ret->by_terminal = info.ssi_code == SI_KERNEL;
	return true;
}

void signals_die(int number)
{
	const struct rlimit no_core = {0, 0};
	sigset_t set;

	setrlimit(RLIMIT_CORE, &no_core);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
	/* Only a signal that does not end a process by default comes here. */
	exit(128 + number);
}
