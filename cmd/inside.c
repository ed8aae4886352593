/*
 * prof inside: execute a program with the library, idle, so that prof record --alloc -p can record
 * its memory at any time.
 */
#include "cmd/command.h"
#include "cmd/execute.h"
#include "cmd/ui/message.h"
#include "cmd/ui/options.h"
#include "inside/file.h"
#include "inside/refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct inside_options_given {
	bool quiet;
};

static const struct option_entry table[] = {
	OPTION_ENTRY('q', "quiet", NULL, "print only errors", option_true,
		     offsetof(struct inside_options_given, quiet)),
	{0, NULL, NULL, NULL, NULL, 0, OPTION_WORKS},
};

static int print_help(void)
{
	printf("Usage: prof inside [options] [--] COMMAND [ARGUMENTS]\n\n"
	       "Executes COMMAND with prof's library in it, which is idle until\n"
	       "prof record --alloc -p PID records who allocates its memory.\n\n");
	options_help(table, stdout);
	return STATUS_OK;
}

static void say_own_allocator(const struct inside_program *program)
{
	CLEANUP(error_cleanup) struct error *lack = inside_find_own_allocator(program);

	if (lack)
		message("%s: %s", error_text(lack), error_hint_text(lack));
}

/* The file stays open in the command, which finds it by its own number. */
static struct error *lead(void)
{
	struct inside_file file;
	struct error *err = inside_file_make(&file);

	return err ? err : inside_file_lead(&file, getpid());
}

static int inside_run(int argc, char **argv)
{
	struct inside_options_given options = {0};
	CLEANUP(inside_program_cleanup) struct inside_program *program = NULL;
	bool help;
	int rest = argc;
	struct error *err = options_parse(table, argc, argv, &options, &rest, &help);

	if (err)
		return message_failure(err, STATUS_USAGE);
	if (help)
		return print_help();
	if (rest == argc)
		return message_failure(error_hint(error_new("no command given"),
						  "prof inside ./app runs it with prof's library"),
				       STATUS_USAGE);
	program = inside_program_of_command(argv + rest);
	err = inside_check_program(program, INSIDE_FOR_MEMORY);
	if (!err)
		err = lead();
	if (err)
		return message_failure(err, STATUS_FAILED);
	if (!options.quiet)
		say_own_allocator(program);
	return execute(argv + rest);
}

const struct command command_inside = {
	.name = "inside",
	.summary = "run a program so that its memory can be recorded later",
	.options = table,
	.operands = OPERANDS_COMMAND,
	.run = inside_run,
};
