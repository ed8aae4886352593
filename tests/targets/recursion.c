/*
 * A thousand frames of one function below the hot one; -DDEPTH=20000 sets the
 * number.
 *
 *	_start … main
 *	  spend
 *	    dive
 *	      down × DEPTH
 *	        bottom  ~100 %  (spin inlined)
 */
#include "work.h"

#ifndef DEPTH
#define DEPTH 1000
#endif

/* Runs so long that the recursion is negligible. */
static NOINLINE void bottom(void)
{
	for (int i = 0; i < DEPTH / 4; i++)
		spin();
}

static NOINLINE void down(unsigned depth)
{
	if (depth > 1)
		down(depth - 1);
	else
		bottom();
	__asm__ volatile(""); /* prevents a tail call */
}

static NOINLINE void dive(void)
{
	down(DEPTH);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const struct part all = {dive, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
