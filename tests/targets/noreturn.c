/*
 * A call that never returns, at the very end of its function. Its return
 * address is the start of the next function, which has another frame.
 *
 *	_start … main
 *	  spend
 *	    attempt
 *	      last_word
 *	        give_up  ~100 %  (spin inlined)
 */
#include "work.h"

#include <setjmp.h>

static jmp_buf back;

static NOINLINE __attribute__((noreturn)) void give_up(volatile char *room)
{
	for (int i = 0; i < 5; i++)
		spin();
	longjmp(back, 1);
}

/* In the file in the order of the source. */
__attribute__((noinline, noclone, noreturn, no_reorder)) void last_word(void)
{
	volatile char room[1000];

	room[0] = 1;
	give_up(room);
}

__attribute__((noinline, noclone, no_reorder)) void next_function(volatile char *room)
{
	*room = 1;
}

static NOINLINE void attempt(void)
{
	if (setjmp(back) == 0)
		last_word();
}

int main(int argc, char **argv)
{
	const struct part all = {attempt, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
