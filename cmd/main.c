#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {&command_record,   &command_report,
						 &command_annotate, &command_top,
						 &command_diff,	    &command_convert};

static int print_help(void)
{
	printf("Usage: prof COMMAND [options]\n\n"
	       "A sampling profiler: where do programs spend their time?\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nprof COMMAND --help says more.\n");
	return STATUS_OK;
}

static int unknown_command(const char *word)
{
	const char *names[ARRAY_SIZE(commands) + 1] = {NULL};
	struct error *err = word[0] == '-' ? error_new("unknown option %s", word)
					   : error_new("there is no command %s", word);
	const char *nearest;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name;
	nearest = option_nearest(word, names);
	message_error(error_hint(err, "%s%s%sprof --help lists the commands",
				 nearest ? "did you mean prof " : "", nearest ? nearest : "",
				 nearest ? "? " : ""));
	return STATUS_USAGE;
}

static const struct command *command_called(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

/* `prof help record` is `prof record --help`. */
static int help_on(char *name)
{
	static char help[] = "--help";
	const struct command *command = command_called(name);

	return command ? command->run(2, (char *[]){name, help, NULL}) : unknown_command(name);
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct command *command;

	if (!word) {
		message_error(
			error_hint(error_new("no command is given"), "prof --help lists them"));
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
	command = command_called(word);
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

int main(int argc, char **argv)
{
	int status;

	fill_standard_descriptors();
	signals_survive_cut_files();
	status = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* Who leaves early has seen enough. */
		if (errno != EPIPE)
			message_error(error_errno(errno, "write to stdout"));
		return STATUS_FAILED;
	}
	return status;
}
