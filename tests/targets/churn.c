/*
 * Measures the cost of the allocator: churn pairs ROUNDS, churn blocks COUNT.
 *
 * pairs: calls malloc(64) and free() of the block repeatedly. Prints the
 * nanoseconds per pair in the fastest of many short rounds, because other load
 * can only add time.
 *
 * blocks: allocates COUNT blocks of 16 to 271 bytes, of which 1,024 are in use
 * at a time, writes to each, and does some other work: about six million blocks
 * per second. Prints the CPU time in seconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAIRS = 100000, ALIVE = 1024, WORK = 64 };

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1e9 + now.tv_nsec;
}

static void *volatile kept[ALIVE];
static volatile uint64_t sum;

static double pair_ns(void)
{
	double begin = cpu_ns();

	for (int i = 0; i < PAIRS; i++) {
		kept[0] = malloc(64);
		free(kept[0]);
	}
	return (cpu_ns() - begin) / PAIRS;
}

static __attribute__((noinline)) void replace(uint64_t random)
{
	size_t slot = random % ALIVE, bytes = 16 + (random >> 32) % 256;

	free(kept[slot]);
	kept[slot] = memset(malloc(bytes), (int)slot, bytes);
}

int main(int count, char **arguments)
{
	long rounds = count > 2 ? atol(arguments[2]) : 0;
	uint64_t random = 88172645463325252;
	double best = 1e9;

	if (count > 1 && !strcmp(arguments[1], "pairs")) {
		for (long i = 0; i < rounds; i++) {
			double ns = pair_ns();

			best = ns < best ? ns : best;
		}
		printf("%.2f\n", best);
		return 0;
	}
	for (long i = 0; i < rounds; i++) {
		for (int j = 0; j < WORK; j++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
		}
		replace(random);
	}
	printf("%.3f\n", cpu_ns() / 1e9);
	return 0;
}
