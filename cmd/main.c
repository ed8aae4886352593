#include "base/alloc.h"
#include "base/signals.h"
#include "cmd/cargo/runner.h"
#include "cmd/command.h"
#include "cmd/ui/message.h"
#include "cmd/ui/options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_help(void)
{
	printf("Usage: prof COMMAND [options]\n\n"
	       "A sampling profiler: where do programs spend their time?\n\n");
	for (const struct command *const *command = commands; *command; command++)
		printf("  %-10s %s\n", (*command)->name, (*command)->summary);
	printf("\nprof COMMAND --help says more.\n");
	return STATUS_OK;
}

static int unknown_command(const char *word)
{
	const char *near = command_nearest(word);
	struct error *err = word[0] == '-' ? error_new("unknown option %s", word)
					   : error_new("unknown command %s", word);

	message_error(error_hint(err, "%s%s%sprof --help lists the commands",
				 near ? "did you mean prof " : "", near ? near : "",
				 near ? "? " : ""));
	return STATUS_USAGE;
}

/* `prof help record` is `prof record --help`. */
static int help_on(char *name)
{
	static char help[] = "--help";
	const struct command *command = command_find(name);

	return command ? command->run(2, (char *[]){name, help, NULL}) : unknown_command(name);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (cargo_runner_is_meant(argv[0]))
		return cargo_runner_run(argc, argv);
	if (!word) {
		message_error(error_hint(error_new("no command given"), "prof --help lists them"));
		return STATUS_USAGE;
	}
	if (!strcmp(word, "help") && argc > 2)
		return help_on(argv[2]);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return print_help();
	if (!strcmp(word, "--version")) {
		printf("prof %s\n", PROF_VERSION);
		return STATUS_OK;
	}
	command = command_find(word);
	return command ? command->run(argc - 1, argv + 1) : unknown_command(word);
}

/*
 * A file that is opened in the place of a closed stdout would get what is meant for stdout. What
 * takes the place fails to be read or written, as a closed descriptor does, and is closed again for
 * the command.
 */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* One write: no message code can be trusted without memory. */
static void say_out_of_memory(void)
{
	static const char text[] = "prof: out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
}

int main(int argc, char **argv)
{
	int status;

	/* The first function is called last, when the terminal has been restored. */
	at_quick_exit(say_out_of_memory);
	alloc_give_back_large_blocks();
	fill_standard_descriptors();
	signals_survive_cut_files();
	signals_fail_at_size_limit();
	status = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* Who leaves early has seen enough. */
		if (errno != EPIPE)
			message_error(error_errno(errno, "write to stdout"));
		return STATUS_FAILED;
	}
	return status;
}
