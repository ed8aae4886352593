/*
 * Two callers take turns, at the same depth of the stack, under more of it than a sample copies.
 * What lies within the copy tells nothing of them but a counter that the frame in between saves;
 * the hot function does: `odd` only ever works for `left`, `even` for `right`.
 *
 *	_start … main
 *	  left              or  right
 *	    room                  room
 *	      odd  ~50 %            even  ~50 %  (spin inlined)
 */
#include <alloca.h>
#include <string.h>

#include "work.h"

enum { ROOM_BYTES = 48 << 10, SPINS_A_TURN = 1000 };

typedef void work(unsigned turn);

static volatile unsigned turns;

static NOINLINE void odd(unsigned turn)
{
	for (int i = 0; i < SPINS_A_TURN; i++)
		spin();
	turns += turn;
}

static NOINLINE void even(unsigned turn)
{
	for (int i = 0; i < SPINS_A_TURN; i++)
		spin();
	turns += turn;
}

/* As anything that works on data, it leaves some of it in its frame. */
static NOINLINE void room(work *work, size_t len, unsigned turn)
{
	volatile unsigned *words = alloca(len);

	for (size_t i = 0; i < len / sizeof(*words); i++)
		words[i] = turn;
	work(turn);
	turns += words[0];
}

static NOINLINE void left(unsigned turn)
{
	room(odd, ROOM_BYTES, turn);
	__asm__ volatile("");
}

static NOINLINE void right(unsigned turn)
{
	room(even, ROOM_BYTES, turn);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	double end = thread_cpu_seconds() + seconds_argument(argc, argv);

	for (unsigned turn = 0; thread_cpu_seconds() < end; turn += 2) {
		left(turn);
		right(turn + 1);
	}
	return 0;
}
