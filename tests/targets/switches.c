/*
 * switches SECONDS
 *
 * Two threads on one CPU pass a byte back and forth through pipes. Each round
 * trip is two context switches. Prints the microseconds per round trip, as the
 * median of ten parts, to reduce the effect of other load.
 */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { TENTHS = 10, TRIPS_A_LOOK = 100 };

static int pipes[4];

static NOINLINE void pass(int from, int to)
{
	char byte = 0;

	if (from >= 0 && read(from, &byte, 1) != 1)
		_exit(0);
	if (write(to, &byte, 1) != 1)
		_exit(1);
}

static void *echoes(void *unused)
{
	while (1)
		pass(pipes[0], pipes[3]);
	return unused;
}

static NOINLINE void asks(void)
{
	char byte;

	pass(-1, pipes[1]);
	if (read(pipes[2], &byte, 1) != 1)
		_exit(1);
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double trip_us(double seconds)
{
	double began = now_us(), now;
	unsigned long trips = 0;

	do {
		for (unsigned i = 0; i < TRIPS_A_LOOK; i++, trips++)
			asks();
		now = now_us();
	} while (now < began + 1e6 * seconds);
	return (now - began) / (double)trips;
}

static int by_value(const void *left, const void *right)
{
	return (*(const double *)left > *(const double *)right) -
	       (*(const double *)left < *(const double *)right);
}

int main(int argc, char **argv)
{
	double tenths[TENTHS], seconds = seconds_argument(argc, argv);
	cpu_set_t one;
	pthread_t thread;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(pipes) || pipe(pipes + 2) ||
	    pthread_create(&thread, NULL, echoes, NULL))
		return 1;
	for (unsigned i = 0; i < TENTHS; i++)
		tenths[i] = trip_us(seconds / TENTHS);
	qsort(tenths, TENTHS, sizeof(tenths[0]), by_value);
	printf("%.3f\n", tenths[TENTHS / 2]);
	return 0;
}
