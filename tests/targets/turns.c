/*
 * Two callers take turns, at the same depth of the stack, below more stack than
 * a sample copies. The copy does not show which of them has called, but the hot
 * function does: `left` only calls `odd`, and `right` only calls `even`.
 *
 *	_start … main
 *	  left              or  right
 *	    room                  room
 *	      odd  ~50 %            even  ~50 %  (spin inlined)
 */
#include <alloca.h>

#include "work.h"

enum { ROOM_BYTES = 48 << 10, SPINS_A_TURN = 1000 };

typedef void work(void);

static volatile unsigned turns;

static NOINLINE void odd(void)
{
	for (int i = 0; i < SPINS_A_TURN; i++)
		spin();
	turns++;
}

static NOINLINE void even(void)
{
	for (int i = 0; i < SPINS_A_TURN; i++)
		spin();
	turns++;
}

/* Leaves the same data in its frame for every caller. */
static NOINLINE void room(work *work, size_t len)
{
	volatile unsigned *words = alloca(len);

	for (size_t i = 0; i < len / sizeof(*words); i++)
		words[i] = 1;
	work();
	turns += words[0];
}

static NOINLINE void left(void)
{
	room(odd, ROOM_BYTES);
	__asm__ volatile("");
}

static NOINLINE void right(void)
{
	room(even, ROOM_BYTES);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double end = thread_cpu_seconds() + seconds_argument(argc, argv);

	while (thread_cpu_seconds() < end) {
		left();
		right();
	}
	return 0;
}
