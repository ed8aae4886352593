/*
 * Threads that live for microseconds, made by pthread_create() (clone3) and by
 * clone(). Most of their samples are from their start and their end.
 *
 *	_start … main
 *	  spend
 *	    start_by_pthread, start_by_clone
 *	clone3  start_thread  work  touch
 *	clone   work_alone  touch
 */
#define _GNU_SOURCE
#include "work.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STACK_BYTES = 256 << 10 };

static NOINLINE void touch(void)
{
	for (volatile int i = 0; i < 3000; i++)
		;
}

static void *work(void *argument)
{
	touch();
	return argument;
}

static int work_alone(void *argument)
{
	touch();
	return 0;
}

static NOINLINE void start_by_pthread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
}

static NOINLINE void start_by_clone(void)
{
	static char *stack;

	if (!stack)
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
	waitpid(clone(work_alone, stack + STACK_BYTES, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD,
		      NULL),
		NULL, 0);
}

int main(int argc, char **argv)
{
	const struct part parts[] = {{start_by_pthread, 5}, {start_by_clone, 5}};

	spend(seconds_argument(argc, argv), parts, 2);
	return 0;
}
