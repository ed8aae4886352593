/*
 * A program to attach to. It prints "ready" when its first thread works. For
 * every line it reads, it starts a thread named "late" and prints "started". It
 * ends with status 0 at end of file.
 *
 *	service  _start … main          waits
 *	early    clone3 start_thread early_work
 *	late     clone3 start_thread late_work
 */
#include "work.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

static atomic_bool done;

static NOINLINE void burn(void)
{
	spin();
}

static NOINLINE void work_until_done(const char *name, const char *answer)
{
	pthread_setname_np(pthread_self(), name);
	puts(answer);
	fflush(stdout);
	while (!done)
		burn();
}

static void *early_work(void *unused)
{
	work_until_done("early", "ready");
	return unused;
}

static void *late_work(void *unused)
{
	work_until_done("late", "started");
	return unused;
}

static void start(void *(*work)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_detach(thread);
}

int main(void)
{
	char line[64];

	start(early_work);
	while (fgets(line, sizeof line, stdin))
		start(late_work);
	done = true;
	return 0;
}
