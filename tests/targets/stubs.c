/*
 * Calls a function through the procedure linkage table. The function is so
 * short that the stubs get samples. Built in each layout of stubs: with and
 * without lazy binding, with and without endbr64.
 *
 *	_start … main
 *	  spend
 *	    caller
 *	      step@plt  sometimes
 *	      step      in the library (stub_library.c)
 */
#include "work.h"

unsigned step(unsigned value);

static NOINLINE void caller(void)
{
	unsigned value = 1;

	/* Multiplications take long enough that this function also gets
	 * samples. */
	for (int i = 0; i < 10000; i++) {
		value = step(value);
		value *= value | 1;
		value *= value | 3;
		value *= value | 5;
	}
	__asm__ volatile("" : : "r"(value));
}

int main(int argc, char **argv)
{
	const struct part all = {caller, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
