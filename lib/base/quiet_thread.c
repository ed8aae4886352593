#include "base/quiet_thread.h"

#include <signal.h>

bool quiet_thread_start(pthread_t *ret, void *run(void *user), void *user)
{
	sigset_t all, before;
	int failed;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = pthread_create(ret, NULL, run, user);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return !failed;
}
