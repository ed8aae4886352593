/*
 * Work with a known share of the CPU time.
 *
 * spin() is inlined everywhere, so a profile shows it as an inlined frame of
 * its caller. spend() divides the CPU time of the calling thread into tenths.
 * It runs each part for its number of tenths, in a shuffled order, so that the
 * parts are independent of the sampling interval.
 */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { SPINS = 20000 }; /* about 10 us */

static inline __attribute__((always_inline)) void spin(void)
{
	uint64_t value = 1;

	for (unsigned i = 0; i < SPINS; i++) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(value));
	}
}

struct part {
	void (*run)(void);
	unsigned tenths;
};

static inline double thread_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline void shuffle(void (*parts[10])(void), uint32_t *seed)
{
	for (unsigned i = 9; i > 0; i--) {
		*seed = *seed * 1664525u + 1013904223u;
		unsigned j = (*seed >> 16) % (i + 1);
		void (*swapped)(void) = parts[i];
		parts[i] = parts[j];
		parts[j] = swapped;
	}
}

/* The tenths of the parts add up to ten. */
static NOINLINE void spend(double seconds, const struct part *parts, unsigned count)
{
	void (*order[10])(void);
	unsigned filled = 0;
	uint32_t seed = 1;
	double end = thread_cpu_seconds() + seconds;

	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < parts[i].tenths; j++)
			order[filled++] = parts[i].run;
	while (thread_cpu_seconds() < end) {
		shuffle(order, &seed);
		for (unsigned i = 0; i < 10; i++)
			order[i]();
	}
}

/* Returns the first argument, in seconds of CPU time. */
static inline double seconds_argument(int argc, char **argv)
{
	return argc > 1 ? strtod(argv[1], NULL) : 1;
}

#endif
