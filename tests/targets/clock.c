/*
 * Time in code that no file holds.
 *
 *	_start … main
 *	  spend
 *	    ask
 *	      clock_gettime
 *	        __vdso_clock_gettime  [vdso]
 */
#include "work.h"

static NOINLINE void ask(void)
{
	struct timespec now;

	for (int i = 0; i < 200; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
}

int main(int argc, char **argv)
{
	const struct part all = {ask, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
