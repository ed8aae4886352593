/*
 * Functions with unusual frames.
 *
 *	_start … main
 *	  spend
 *	    grow    50 %  alloca: its frame has a size known only when it runs
 *	      filled        (spin inlined)
 *	    second  30 %  reached by a tail call from first(), which leaves no frame
 *	    align   20 %  realigns the stack: found again through a saved register
 *	      aligned       (spin inlined)
 */
#include "work.h"

#include <alloca.h>

static NOINLINE void filled(char *room)
{
	__asm__ volatile("" : : "r"(room) : "memory");
	spin();
}

static NOINLINE void grow(void)
{
	static unsigned size;

	size = (size + 40) % 4000;
	filled(alloca(size + 16));
	__asm__ volatile("");
}

static NOINLINE void second(void)
{
	spin();
}

static NOINLINE void first(void)
{
	second(); /* the last thing to do: a jump */
}

static NOINLINE void aligned(char *room, int size)
{
	__asm__ volatile("" : : "r"(room), "r"(size) : "memory");
	spin();
}

static NOINLINE void align(void)
{
	char room[256] __attribute__((aligned(128)));

	aligned(room, sizeof room);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{grow, 5}, {first, 3}, {align, 2}};

	spend(seconds_argument(argc, argv), parts, 3);
	return 0;
}
