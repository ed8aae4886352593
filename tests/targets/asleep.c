/*
 * asleep HOW [SECONDS]
 *
 * Threads sleep while something happens to them, SECONDS (0.4) after the start:
 *
 *	dies     the process ends while two threads are in sleeps_for_ever
 *	execs    another thread, in sleeps_for_ever, ends because main executes sleep(1) for SECONDS
 *	vforks   main waits in vforks for a child that shares its memory and sleeps for SECONDS
 *	halves   three threads compute and sleep in turn, at least ten times, even if a busy
 *		 machine then needs longer than SECONDS; main is in waits_for_halves. At the
 *		 end it prints nanoseconds: the minimum lifetime of all threads, the maximum
 *		 lifetime of the three (until main knows that they have ended), and the total
 *		 CPU time
 *	stays    main prints "ready" and is in sleeps_for_ever
 */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, TURN_US = 20000, LEAST_TURNS = 10 };

static double seconds = 0.4;
static atomic_uint_fast64_t life_ns, cpu_ns;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static NOINLINE void sleeps_for_ever(void)
{
	while (1)
		pause();
}

static void *sleep_for_ever(void *unused)
{
	sleeps_for_ever();
	return unused;
}

static NOINLINE void sleeps(double length)
{
	usleep((useconds_t)(length * 1e6));
	__asm__ volatile(""); /* no tail call */
}

static NOINLINE void vforks(void)
{
	pid_t child = vfork();

	if (!child) {
		sleeps(seconds);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static NOINLINE void computes(void)
{
	double end = thread_cpu_seconds() + TURN_US / 1e6;

	while (thread_cpu_seconds() < end)
		spin();
}

/* The work before and after this function takes microseconds. */
static void *halve(void *unused)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC), end = began + (uint64_t)(seconds * 1e9);

	for (int turn = 0; turn < LEAST_TURNS || clock_ns(CLOCK_MONOTONIC) < end; turn++) {
		computes();
		sleeps(TURN_US / 1e6);
	}
	life_ns += clock_ns(CLOCK_MONOTONIC) - began;
	cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID);
	return unused;
}

static NOINLINE void waits_for_halves(void)
{
	uint64_t began = clock_ns(CLOCK_MONOTONIC), most_ns = 0;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, halve, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		most_ns += clock_ns(CLOCK_MONOTONIC) - began;
	}
	printf("%llu %llu %llu\n",
	       (unsigned long long)(life_ns + clock_ns(CLOCK_MONOTONIC) - began),
	       (unsigned long long)most_ns,
	       (unsigned long long)(cpu_ns + clock_ns(CLOCK_THREAD_CPUTIME_ID)));
}

static void start_sleepers(int count)
{
	pthread_t thread;

	while (count--)
		pthread_create(&thread, NULL, sleep_for_ever, NULL);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	char text[32];

	if (argc > 2)
		seconds = strtod(argv[2], NULL);
	snprintf(text, sizeof(text), "%g", seconds);
	if (!strcmp(how, "dies")) {
		start_sleepers(2);
		sleeps(seconds);
	} else if (!strcmp(how, "execs")) {
		start_sleepers(1);
		sleeps(seconds);
		execlp("sleep", "sleep", text, NULL);
	} else if (!strcmp(how, "vforks")) {
		vforks();
	} else if (!strcmp(how, "halves")) {
		waits_for_halves();
	} else if (!strcmp(how, "stays")) {
		printf("ready\n");
		fflush(stdout);
		sleeps_for_ever();
	}
	return 0;
}
