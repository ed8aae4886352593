/* A library that is opened at run time. WORK is the name of its function. */
#include "work.h"

void WORK(double seconds);

static NOINLINE void burn(void)
{
	spin();
}

void WORK(double seconds)
{
	const struct part all = {burn, 10};

	spend(seconds, &all, 1);
	__asm__ volatile("");
}
