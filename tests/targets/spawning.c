/*
 * A child that uses its parent's memory until it executes another program
 * (vfork), and a spawned child.
 *
 *	spawning  _start … main  parent     40 %
 *	spawning  _start … main  borrowing  child  30 %  (in the vfork child; spin inlined)
 *	shares    _start … main  spend …    30 %  (the program in the second argument)
 */
#include "work.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static NOINLINE void burn(void)
{
	spin();
}

static const struct part all = {burn, 10};

static NOINLINE void parent(double seconds)
{
	spend(seconds, &all, 1);
	__asm__ volatile("");
}

static NOINLINE void child(double seconds)
{
	spend(seconds, &all, 1);
	__asm__ volatile("nop"); /* not the same code as above: it would be folded into one */
}

static NOINLINE void borrowing(double seconds)
{
	if (vfork() == 0) {
		child(seconds);
		_exit(0);
	}
	wait(NULL);
}

static void run(char *program, double seconds)
{
	char argument[32];
	char *words[] = {program, argument, NULL};
	pid_t pid;

	snprintf(argument, sizeof argument, "%f", seconds);
	posix_spawn(&pid, program, NULL, NULL, words, environ);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv);

	if (argc < 3)
		return 2;
	borrowing(0.3 * seconds);
	run(argv[2], 0.3 * seconds);
	parent(0.4 * seconds);
	while (wait(NULL) > 0)
		;
	return 0;
}
