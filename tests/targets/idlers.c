/*
 * idlers THREADS
 *
 * Starts this many threads that wait for work that never comes, like the pool
 * of a server: clone3 start_thread works_in_pool awaits_work pthread_cond_wait.
 * Prints "ready" when all of them wait. Ends when its input ends.
 */
#include "work.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { STACK_BYTES = 64 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static unsigned long idle;

static NOINLINE void awaits_work(void)
{
	pthread_mutex_lock(&mutex);
	idle++;
	while (true)
		pthread_cond_wait(&work, &mutex);
}

static void *works_in_pool(void *unused)
{
	pthread_setname_np(pthread_self(), "pool");
	awaits_work();
	return unused;
}

static bool all_wait(unsigned long threads)
{
	pthread_mutex_lock(&mutex);
	bool result = idle == threads;
	pthread_mutex_unlock(&mutex);
	return result;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	pthread_attr_t attributes;
	pthread_t thread;
	char byte;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&thread, &attributes, works_in_pool, NULL)) {
			fprintf(stderr, "thread %lu cannot be created\n", i);
			return 1;
		}
	while (!all_wait(threads))
		usleep(1000);
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		continue;
	return 0;
}
