/*
 * A small hot function above 105 KB of stack of its caller, which is more than
 * perf can copy, with a few callers below that. With -DROOM_KIB=1024, it is
 * more than any copy can be.
 *
 *	_start … main
 *	  spend
 *	    outer
 *	      middle
 *	        room
 *	          hot  ~100 %  (spin inlined)
 */
#include <alloca.h>
#include <string.h>

#include "work.h"

#ifndef ROOM_KIB
#define ROOM_KIB 105
#endif

enum { ROOM_BYTES = ROOM_KIB << 10 };

static NOINLINE void hot(volatile char *bytes)
{
	for (int i = 0; i < ROOM_KIB / 5; i++) {
		spin();
		bytes[i]++;
	}
}

static NOINLINE void room(size_t len)
{
	char *bytes = alloca(len);

	memset(bytes, 0x55, len);
	hot(bytes);
}

static NOINLINE void middle(void)
{
	room(ROOM_BYTES);
	__asm__ volatile("");
}

static NOINLINE void outer(void)
{
	middle();
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const struct part all = {outer, 10};

	spend(seconds_argument(argc, argv), &all, 1);
	return 0;
}
