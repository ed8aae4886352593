/*
 * A thousand frames of one function under the hot one; with -DDEPTH=20000 so many.
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

/* So much that the way down is nothing beside it. */
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
	__asm__ volatile(""); /* something left to do: no tail call */
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
