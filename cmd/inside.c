/*
 * prof inside: executes a program with the preloaded agent, which is idle until
 * prof record --alloc -p records the program's memory.
 */
#include "cmd/command.h"
#include "cmd/execute.h"
#include "cmd/help.h"
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

static const struct option_entry inside_option_table[] = {
	QUIET_ENTRY(struct inside_options_given, quiet),
	{0},
};

static void inside_say_own_allocator(const struct inside_program *program)
{
	CLEANUP(error_cleanup) struct error *lack = inside_find_own_allocator(program);

	if (lack)
		message("%s: %s", error_text(lack), error_hint_text(lack));
}

/* The file stays open in the command, where the agent finds it by its number. */
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
	enum option_group help;
	int rest = argc;
	struct error *err = options_parse(inside_option_table, argc, argv, &options, &rest, &help);

	if (err)
		return message_failure(error_usage(err));
	if (help)
		return help_print(&command_inside, help);
	if (rest == argc)
		return message_failure(
			error_usage(error_hint(error_new("no command given"),
					       "prof inside ./app runs it with prof's library")));
	program = inside_program_of_command(argv + rest);
	err = inside_check_program(program, INSIDE_FOR_MEMORY);
	if (!err)
		err = lead();
	if (err)
		return message_failure(err);
	if (!options.quiet)
		inside_say_own_allocator(program);
	return execute(argv + rest);
}

const struct command command_inside = {
	.name = "inside",
	.summary = "run a program so that its memory can be recorded later",
	.usage = "[options] [--] COMMAND [ARGUMENTS]",
	.description = "Executes COMMAND with prof's library preloaded. The library is idle until "
		       "prof record --alloc -p PID records the allocations of the process.",
	.examples = "prof inside ./server\n"
		    "prof record --alloc -p $(pidof server) --duration 10 -o heap.pb.gz\n"
		    "prof report --leaks heap.pb.gz",
	.options = inside_option_table,
	.operands = OPERANDS_COMMAND,
	.run = inside_run,
};
