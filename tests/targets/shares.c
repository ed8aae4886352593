/*
 * Functions with known shares of the CPU time. Built in every layout that
 * linkers make; see meson.build.
 *
 *	_start
 *	  main
 *	    spend
 *	      half   50 %   (spin inlined)
 *	      third  30 %   (spin inlined)
 *	      fifth  20 %   (spin inlined)
 */
#include "work.h"

static NOINLINE void half(void)
{
	spin();
}

static NOINLINE void third(void)
{
	spin();
}

static NOINLINE void fifth(void)
{
	spin();
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{half, 5}, {third, 3}, {fifth, 2}};

	spend(seconds_argument(argc, argv), parts, 3);
	return 0;
}
