/*
 * ever_changing BLOCKS LOG [THREADS]
 *
 * Threads sleep BLOCKS times in total, each time at the end of a different
 * path: f0 to f15 call each other at random, 6 to 20 deep, and the last one
 * sleeps for 50 us to 3 ms. A path therefore identifies a single sleep. Every
 * fourth function has a frame of variable size. At the end, the file LOG gets a
 * line for each sleep:
 *
 *	tid, CLOCK_MONOTONIC before and after in ns, path (a hexadecimal digit for each function)
 */
#include "work.h"

#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { FUNCTIONS = 16, LEAST_DEPTH = 6, DEPTH = 20, LEAST_US = 50, MOST_US = 3000, THREADS = 8 };

struct sleep {
	uint64_t begin_ns, end_ns;
	unsigned char path[DEPTH], depth;
};

struct sleeper {
	pthread_t thread;
	pid_t tid;
	uint64_t seed, count;
	struct sleep *sleeps, *now;
};

typedef void function(struct sleeper *sleeper, unsigned depth);

static function *const functions[FUNCTIONS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned draw(struct sleeper *sleeper, unsigned below)
{
	sleeper->seed = sleeper->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(sleeper->seed >> 33) % below;
}

/* Calls the function of the path at this depth. Sleeps at the end of the path. */
static inline __attribute__((always_inline)) void go_on(struct sleeper *sleeper, unsigned depth)
{
	struct sleep *sleep = sleeper->now;

	if (depth < sleep->depth) {
		functions[sleep->path[depth]](sleeper, depth + 1);
	} else {
		struct timespec length = {0,
					  1000L * (LEAST_US + draw(sleeper, MOST_US - LEAST_US))};

		sleep->begin_ns = now_ns();
		nanosleep(&length, NULL);
		sleep->end_ns = now_ns();
	}
}

/* Functions with frames of different sizes. */
#define FIXED(number)                                                                              \
	static NOINLINE void f##number(struct sleeper *sleeper, unsigned depth)                    \
	{                                                                                          \
		char room[16 + 24 * number];                                                       \
                                                                                                   \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
		go_on(sleeper, depth);                                                             \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
	}
#define VARIABLE(number)                                                                           \
	static NOINLINE void f##number(struct sleeper *sleeper, unsigned depth)                    \
	{                                                                                          \
		char *room = alloca(16 + 8 * draw(sleeper, 32));                                   \
                                                                                                   \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
		go_on(sleeper, depth);                                                             \
		__asm__ volatile("" : : "r"(room) : "memory");                                     \
	}

FIXED(0)
FIXED(1)
FIXED(2)
VARIABLE(3)
FIXED(4)
FIXED(5)
FIXED(6)
VARIABLE(7)
FIXED(8)
FIXED(9)
FIXED(10)
VARIABLE(11)
FIXED(12)
FIXED(13)
FIXED(14)
VARIABLE(15)

static function *const functions[FUNCTIONS] = {f0, f1, f2,  f3,	 f4,  f5,  f6,	f7,
					       f8, f9, f10, f11, f12, f13, f14, f15};

static NOINLINE void *change(void *argument)
{
	struct sleeper *sleeper = argument;

	sleeper->tid = gettid();
	for (uint64_t i = 0; i < sleeper->count; i++) {
		sleeper->now = &sleeper->sleeps[i];
		sleeper->now->depth = LEAST_DEPTH + draw(sleeper, DEPTH - LEAST_DEPTH + 1);
		for (unsigned depth = 0; depth < sleeper->now->depth; depth++)
			sleeper->now->path[depth] = draw(sleeper, FUNCTIONS);
		go_on(sleeper, 0);
	}
	return NULL;
}

static void print(FILE *log, const struct sleeper *sleeper)
{
	for (uint64_t i = 0; i < sleeper->count; i++) {
		const struct sleep *sleep = &sleeper->sleeps[i];

		fprintf(log, "%d %llu %llu ", sleeper->tid, (unsigned long long)sleep->begin_ns,
			(unsigned long long)sleep->end_ns);
		for (unsigned depth = 0; depth < sleep->depth; depth++)
			fputc("0123456789abcdef"[sleep->path[depth]], log);
		fputc('\n', log);
	}
}

int main(int argc, char **argv)
{
	unsigned threads = argc > 3 ? strtoul(argv[3], NULL, 10) : THREADS;
	struct sleeper *sleepers = calloc(threads, sizeof(*sleepers));
	FILE *log;

	if (argc < 3 || !threads || !(log = fopen(argv[2], "w")))
		return 1;
	for (unsigned i = 0; i < threads; i++) {
		sleepers[i].count = strtoull(argv[1], NULL, 10) / threads;
		sleepers[i].sleeps = calloc(sleepers[i].count, sizeof(*sleepers[i].sleeps));
		sleepers[i].seed = now_ns() + i;
		pthread_create(&sleepers[i].thread, NULL, change, &sleepers[i]);
	}
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(sleepers[i].thread, NULL);
		print(log, &sleepers[i]);
	}
	return fclose(log);
}
