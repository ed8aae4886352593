#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/options.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {&command_record};

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

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (!word) {
		message_error(
			error_hint(error_new("no command is given"), "prof --help lists them"));
		return STATUS_USAGE;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return print_help();
	if (!strcmp(word, "--version")) {
		printf("prof %s\n", PROF_VERSION);
		return STATUS_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(word, commands[i]->name))
			return commands[i]->run(argc - 1, argv + 1);
	return unknown_command(word);
}

/* A file that is opened in the place of a closed stdout would get what is meant for stdout. */
static void fill_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	int status;

	fill_standard_descriptors();
	status = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		message_error(error_errno(errno, "write to stdout"));
		return STATUS_FAILED;
	}
	return status;
}
