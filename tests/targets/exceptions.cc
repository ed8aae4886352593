/*
 * Exceptions in flight: most of the time is spent in the C++ runtime's own
 * unwinder, which is called from the throw expression while the frames below it
 * still exist.
 *
 *	_start … main
 *	  spend
 *	    attempt()
 *	      climb(int) × 20
 *	        fall()          __cxa_throw … _Unwind_RaiseException …
 */
#include "work.h"

#include <stdexcept>

namespace {

NOINLINE void fall()
{
	throw std::runtime_error("down");
}

NOINLINE void climb(int height)
{
	struct guard {
		~guard() { __asm__ volatile("" ::: "memory"); }
	} guard; /* something to clean up in each frame */

	if (height > 1)
		climb(height - 1);
	else
		fall();
}

NOINLINE void attempt()
{
	try {
		climb(20);
	} catch (const std::runtime_error &) {
	}
}

}

int main(int argc, char **argv)
{
	const struct part all = {attempt, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
