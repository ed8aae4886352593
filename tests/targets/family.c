/*
 * A parent, a child that continues in the parent's ELF file, and a child that
 * executes another program.
 *
 *	family    _start … main  parent_work  50 %
 *	family    _start … main  child_work   30 %
 *	shares    _start … main  spend …      20 %   (the program in the second argument)
 */
#include "work.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static NOINLINE void burn(void)
{
	spin();
}

static const struct part all = {burn, 10};

static NOINLINE void parent_work(double seconds)
{
	spend(seconds, &all, 1);
	__asm__ volatile("");
}

static NOINLINE void child_work(double seconds)
{
	spend(seconds, &all, 1);
	__asm__ volatile("nop"); /* not the same code as above: it would be folded into one */
}

static void run(const char *program, double seconds)
{
	char argument[32];

	snprintf(argument, sizeof argument, "%f", seconds);
	execl(program, program, argument, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv);

	if (argc < 3)
		return 2;
	if (fork() == 0) {
		child_work(0.3 * seconds);
		_exit(0);
	}
	if (fork() == 0)
		run(argv[2], 0.2 * seconds);
	parent_work(0.5 * seconds);
	while (wait(NULL) > 0)
		;
	return 0;
}
