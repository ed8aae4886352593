/*
 * A program that measures its own phases: one thread runs, two threads run, and
 * none runs. The argument is the length of each phase in seconds.
 *
 *	main serial      spin
 *	main parallel    spin
 *	worker parallel  spin
 *	main waiting     nanosleep
 *
 * A phase starts with its first thread and ends with its last one. Prints a
 * line per phase: its name, its length, and the time until each of its threads
 * has run for 1.5 ms, so that a profiler has sampled it; both in nanoseconds. The last line is the
 *length of main.
 */
#include "work.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

struct span {
	uint64_t start_ns, end_ns;
	uint64_t sampled_ns; /* when the thread had run for 1.5 ms */
};

static sem_t worker_is_ready, may_start, has_ended;
static uint64_t parallel_end_ns;
static struct span of_worker;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline __attribute__((always_inline)) struct span spin_until(uint64_t end_ns)
{
	struct span span = {.start_ns = now_ns()};
	double sampled = thread_cpu_seconds() + 0.0015;

	span.end_ns = span.sampled_ns = span.start_ns;
	while (span.end_ns < end_ns) {
		bool is_new = thread_cpu_seconds() < sampled;

		spin();
		span.end_ns = now_ns();
		if (is_new)
			span.sampled_ns = span.end_ns;
	}
	return span;
}

/* The functions differ, so that the compiler does not merge them. */
static NOINLINE struct span serial(uint64_t end_ns)
{
	struct span span = spin_until(end_ns);

	__asm__ volatile("# serial");
	return span;
}

static NOINLINE struct span parallel(uint64_t end_ns)
{
	struct span span = spin_until(end_ns);

	__asm__ volatile("# parallel");
	return span;
}

static NOINLINE struct span waiting(uint64_t ns)
{
	struct span span = {.start_ns = now_ns()};

	span.sampled_ns = span.start_ns;
	usleep((useconds_t)(ns / 1000));
	span.end_ns = now_ns();
	return span;
}

static void *work(void *unused)
{
	sem_post(&worker_is_ready);
	sem_wait(&may_start);
	of_worker = parallel(parallel_end_ns);
	sem_post(&has_ended);
	return unused;
}

static struct span union_of(struct span a, struct span b)
{
	return (struct span){
		.start_ns = a.start_ns < b.start_ns ? a.start_ns : b.start_ns,
		.end_ns = larger(a.end_ns, b.end_ns),
		.sampled_ns = larger(a.sampled_ns, b.sampled_ns),
	};
}

static void print(const char *name, struct span span)
{
	printf("%s %" PRIu64 " %" PRIu64 "\n", name, span.end_ns - span.start_ns,
	       span.sampled_ns - span.start_ns);
}

int main(int argc, char **argv)
{
	struct span all = {.start_ns = now_ns()}, alone, both, none;
	uint64_t ns = (uint64_t)(seconds_argument(argc, argv) * 1e9);
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	sem_wait(&worker_is_ready);
	alone = serial(now_ns() + ns);
	parallel_end_ns = now_ns() + ns;
	sem_post(&may_start);
	both = parallel(parallel_end_ns);
	sem_wait(&has_ended);
	both = union_of(both, of_worker);
	pthread_join(worker, NULL);
	none = waiting(ns);
	all.end_ns = now_ns();
	all.sampled_ns = all.start_ns;
	print("serial", alone);
	print("parallel", both);
	print("waiting", none);
	print("all", all);
	return 0;
}
