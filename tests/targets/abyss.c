/*
 * Twenty thousand frames of one function under the hot one.
 *
 *	_start … main
 *	  spend
 *	    dive
 *	      down × 20000
 *	        bottom  ~100 %  (spin inlined)
 */
#include "work.h"

static NOINLINE void bottom(void)
{
	for (int i = 0; i < 5000; i++)
		spin();
}

static NOINLINE void down(unsigned depth)
{
	if (depth > 1)
		down(depth - 1);
	else
		bottom();
	__asm__ volatile(""); /* something left to do: no tail call */
}

static NOINLINE void dive(void)
{
	down(20000);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const struct part all = {dive, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
