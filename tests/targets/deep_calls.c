/*
 * 105 KB of stack in 130 frames, like an interpreter, below constantly changing
 * calls of up to twenty more frames. The argument is the number of these calls.
 * Prints "begin" and, at the end, the wall-clock and CPU seconds of the calls,
 * and waits for a line.
 *
 *	_start … main
 *	  down × 130
 *	    work
 *	      one or two × 1 to 20
 *	        leaf
 */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

enum { DEPTH = 130, FRAME_BYTES = 700, CALLS_MAX = 20 };

static volatile unsigned sum;
static unsigned drawn = 1;

static unsigned draw(void)
{
	drawn = drawn * 1664525U + 1013904223U;
	return drawn >> 8;
}

static NOINLINE void leaf(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		sum += i * drawn;
}

static NOINLINE void two(unsigned depth);

static NOINLINE void one(unsigned depth)
{
	volatile char *bytes = alloca(FRAME_BYTES);

	bytes[depth] = 1;
	if (!depth)
		leaf(200 + draw() % 400);
	else if (draw() & 1)
		one(depth - 1);
	else
		two(depth - 1);
	sum += bytes[depth];
}

static NOINLINE void two(unsigned depth)
{
	volatile char *bytes = alloca(FRAME_BYTES - 100);

	bytes[depth] = 1;
	if (!depth)
		leaf(200 + draw() % 400);
	else if (draw() & 1)
		one(depth - 1);
	else
		two(depth - 1);
	sum += bytes[depth];
}

static NOINLINE void work(unsigned long rounds)
{
	while (rounds--)
		one(draw() % CALLS_MAX);
}

static NOINLINE void down(unsigned depth, unsigned long rounds)
{
	char *bytes = alloca(FRAME_BYTES);

	memset(bytes, 0x55, FRAME_BYTES);
	if (depth > 1)
		down(depth - 1, rounds);
	else
		work(rounds);
	sum += ((volatile char *)bytes)[0];
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);

	puts("begin");
	fflush(stdout);
	down(DEPTH, argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000);
	printf("%.4f %.4f\n", seconds(CLOCK_MONOTONIC) - wall,
	       seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	fflush(stdout);
	getchar();
	return 0;
}
