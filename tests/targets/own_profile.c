/* Samples itself with SIGPROF for a second of CPU time, 100 times per second,
 * and prints the number of samples. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>

static volatile sig_atomic_t count;

static void on_signal(int number)
{
	(void)number;
	count++;
}

int main(void)
{
	const struct itimerval often = {{0, 10000}, {0, 10000}};

	signal(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &often, NULL);
	while (clock() < CLOCKS_PER_SEC)
		;
	printf("%d\n", (int)count);
	return 0;
}
