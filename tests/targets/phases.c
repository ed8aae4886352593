/*
 * A program with phases that its reader requests. It prints "ready", reads a
 * line for each phase, and prints the line again when the phase is over. At end
 * of file it ends with status 0.
 *
 *	left SECONDS    main left    burn (spin inlined)
 *	right SECONDS   main right   burn
 *	children COUNT  like right, for 10 ms in each of COUNT processes, one after the other
 *	wait SECONDS    main wait_for … nanosleep
 *
 * The seconds of left and right are CPU time.
 */
#include "work.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static NOINLINE void burn(double seconds)
{
	double end = thread_cpu_seconds() + seconds;

	while (thread_cpu_seconds() < end)
		spin();
}

/* The functions differ, so that the compiler does not merge them. */
static NOINLINE void left(double seconds)
{
	burn(seconds);
	__asm__ volatile("# left");
}

static NOINLINE void right(double seconds)
{
	burn(seconds);
	__asm__ volatile("# right");
}

static NOINLINE void wait_for(double seconds)
{
	usleep((useconds_t)(seconds * 1e6));
	__asm__ volatile("");
}

static void children(double count)
{
	for (int i = 0; i < count; i++) {
		if (fork() == 0) {
			right(0.01);
			_exit(0);
		}
		wait(NULL);
	}
}

int main(void)
{
	char line[64], word[64];
	double number;

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof line, stdin) && sscanf(line, "%63s %lf", word, &number) == 2) {
		if (!strcmp(word, "left"))
			left(number);
		else if (!strcmp(word, "right"))
			right(number);
		else if (!strcmp(word, "children"))
			children(number);
		else
			wait_for(number);
		fputs(line, stdout);
		fflush(stdout);
	}
	return 0;
}
