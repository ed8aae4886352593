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

/* Requests a signal once, after 4 ms of CPU time: if a handler takes longer
 * than that, the interrupted code must still get time. */
static void ask_for_signal(void)
{
	const struct itimerval in_4_ms = {.it_value = {0, 4000}};

	setitimer(ITIMER_PROF, &in_4_ms, NULL);
}

static NOINLINE void on_signal(int number)
{
	(void)number;
	/* At the exit of the program, the signal would interrupt other code. */
	for (int i = 0; is_spending && i < 200; i++)
		spin();
	ask_for_signal();
}

static NOINLINE void interrupted(void)
{
	spin();
}

int main(int argc, char **argv)
{
	const struct part all = {interrupted, 10};
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGPROF, &action, NULL);
	is_spending = 1;
	ask_for_signal();
	spend(seconds_argument(argc, argv), &all, 1);
	is_spending = 0;
	return 0;
}
