/*
 * A signal handler that interrupts a function at any instruction.
 *
 *	_start … main
 *	  spend
 *	    interrupted            (spin inlined)
 *	      __restore_rt         the signal frame
 *	        on_signal          (spin inlined)
 */
#include "work.h"

#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t is_spending;

static NOINLINE void on_signal(int number)
{
	(void)number;
	/* On the way out of the program it would stand on something else. */
	for (int i = 0; is_spending && i < 200; i++)
		spin();
}

static NOINLINE void interrupted(void)
{
	spin();
}

int main(int argc, char **argv)
{
	const struct part all = {interrupted, 10};
	const struct itimerval every_4_ms = {{0, 4000}, {0, 4000}};
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every_4_ms, NULL);
	is_spending = 1;
	spend(seconds_argument(argc, argv), &all, 1);
	is_spending = 0;
	return 0;
}
