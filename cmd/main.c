#include "base/alloc.h"
#include "base/signals.h"
#include "cmd/cargo/runner.h"
#include "cmd/cargo/subcommand.h"
#include "cmd/command.h"
#include "cmd/counterparts.h"
#include "cmd/suggestions.h"
#include "cmd/ui/message.h"
#include "cmd/ui/options.h"
#include "commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int main_print_help(void)
{
	printf("Usage: prof COMMAND [options]\n\n"
	       "A sampling profiler: shows where programs spend their time.\n\n"
	       "Commands:\n");
	for (const struct command *const *command = commands; *command; command++)
		printf("  %-10s %s\n", (*command)->name, (*command)->summary);
	printf("\n"
	       "Options:\n"
	       "  -h, --help  print this help\n"
	       "  --version   print the version and its commit\n"
	       "\n"
	       "Examples:\n"
	       "  prof record ./app             record a program into prof.pb.gz\n"
	       "  prof report                   show its hottest functions\n"
	       "  prof record -o app.html ./app record a program into an HTML report\n"
	       "  sudo prof top                 show live what the machine does\n"
	       "\n"
	       "prof COMMAND -h prints the common options of a command, prof COMMAND --help all\n"
	       "of them. Manual: man prof\n");
	return STATUS_OK;
}

/* words: from the unknown one on. */
static int unknown_command(char *const *words)
{
	CLEANUP(free_ptr) char *counterpart = counterpart_of_command(words);
	const char *near = command_nearest(words[0]);
	struct error *err = words[0][0] == '-' ? error_new("unknown option %s", words[0])
					       : error_new("unknown command %s", words[0]);

	if (counterpart)
		err = error_hint(err, "%s", counterpart);
	err = error_hint(err, "%s%s%sprof --help lists the commands",
			 near ? "did you mean prof " : "", near ? near : "", near ? "? " : "");
	return message_failure(error_usage(err));
}

/* `prof help record events` is `prof record --help events`. words: "record", "events". */
static int help_on(char **words)
{
	static char help[] = "--help";
	const struct command *command = command_find(words[0]);

	return command ? command->run(words[1] ? 3 : 2, (char *[]){words[0], help, words[1], NULL})
		       : unknown_command(words);
}

/* Runs a command, unless the words are those of another profiler: `prof script flamegraph`. */
static int main_run_command(int argc, char **argv)
{
	const struct command *command = command_find(argv[0]);
	CLEANUP(free_ptr) char *counterpart = command ? counterpart_of_command(argv) : NULL;

	if (!command)
		return unknown_command(argv);
	if (!counterpart || access(argv[1], F_OK) == 0)
		return command->run(argc, argv);
	return message_failure(error_usage(error_hint(
		error_new("unknown command %s %s", argv[0], argv[1]), "%s", counterpart)));
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;

	if (cargo_runner_is_meant(argv[0]))
		return cargo_runner_run(argc, argv);
	if (cargo_subcommand_is_meant(argv[0]))
		return cargo_subcommand_run(argc, argv);
	if (!word && suggestions_are_possible())
		return suggestions_print("no command given");
	if (!word)
		return message_failure(error_usage(
			error_hint(error_new("no command given"), "prof --help lists them")));
	if (!strcmp(word, "help") && argc > 2)
		return help_on(argv + 2);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return main_print_help();
	if (!strcmp(word, "--version")) {
		puts(*PROF_COMMIT ? "prof " PROF_VERSION " (" PROF_COMMIT ")"
				  : "prof " PROF_VERSION);
		return STATUS_OK;
	}
	return main_run_command(argc - 1, argv + 1);
}

/*
 * Opens the standard descriptors that are closed. Otherwise a file that is
 * opened later would get the number of stdout, and with it the output. Reads
 * and writes of the new descriptors fail, as on closed ones; the command gets
 * them closed.
 */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

/* Uses a single write, because the message code may need memory. */
static void say_out_of_memory(void)
{
	static const char text[] = "prof: out of memory\n";
	ssize_t written = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)written;
}

int main(int argc, char **argv)
{
	int status;

	/* The function that is registered first is called last, when the
	 * terminal has been restored. */
	at_quick_exit(say_out_of_memory);
	alloc_give_back_large_blocks();
	fill_standard_descriptors();
	signals_survive_cut_files();
	signals_fail_at_size_limit();
	status = dispatch(argc, argv);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		/* A reader that closes the pipe early has seen enough. */
		if (errno != EPIPE)
			message_error(error_errno(errno, "write to stdout"));
		return STATUS_FAILED;
	}
	return status;
}
