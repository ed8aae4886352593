#include "cmd/cargo/runner.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cmd/cargo/each.h"
#include "cmd/cargo/message.h"
#include "cmd/cargo/project.h"
#include "cmd/command.h"
#include "cmd/execute.h"
#include "cmd/program_name.h"
#include "cmd/string_list.h"
#include "cmd/ui/message.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

bool cargo_runner_is_meant(const char *program)
{
	return !strcmp(basename(program), CARGO_RUNNER_NAME);
}

/* Returns true for the list of tests that nextest requests from each program
 * first. */
static bool is_listing(char *const *arguments)
{
	if (!getenv("NEXTEST") || getenv("NEXTEST_TEST_NAME"))
		return false;
	for (; *arguments; arguments++)
		if (!strcmp(*arguments, "--list"))
			return true;
	return false;
}

static bool runner_is_xtask(const char *program)
{
	return !strcmp(basename(program), CARGO_XTASK);
}

/* Connects to the socket in the runner's directory. */
static struct error *connect_to_prof(const char *runner, int *ret)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s%s",
		 (int)(basename(runner) - runner), runner, CARGO_RUNNER_SOCKET);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0) {
		*ret = fd;
		return NULL;
	}
	close_fd(&fd);
	return error_errno(errno, "connect to %s", address.sun_path);
}

static char *hello_of(const char *program, size_t *len)
{
	CLEANUP(string_list_deinit) struct string_list words = {0};

	for (const char *const *name = program_name_variables; *name; name++)
		if (getenv(*name))
			string_list_take(&words, xasprintf("%s=%s", *name, getenv(*name)));
	string_list_add(&words, "");
	string_list_add(&words, program);
	return string_list_pack(&words, len);
}

/* Sends the program to prof, and waits until prof is ready. */
static struct error *meet_prof(const char *runner, const char *program, struct string_list *answer)
{
	CLEANUP(free_ptr) char *text = xmalloc(CARGO_MESSAGE_BYTES_MAX);
	CLEANUP(free_ptr) char *hello = NULL;
	CLEANUP(close_fd) int fd = -1;
	struct error *err = connect_to_prof(runner, &fd);
	size_t hello_len;
	ssize_t len;

	if (err)
		return err;
	hello = hello_of(program, &hello_len);
	if (send(fd, hello, hello_len, MSG_NOSIGNAL) < 0)
		return error_errno(errno, "write to prof");
	do
		len = recv(fd, text, CARGO_MESSAGE_BYTES_MAX, 0);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return error_errno(errno, "read from prof");
	if (len == 0)
		return error_new("prof did not answer");
	string_list_unpack(answer, text, (size_t)len);
	return NULL;
}

/* Returns the index of the first string that is not about the environment. */
static size_t change_environment(const struct string_list *answer)
{
	size_t i = 0;

	for (; i < answer->count && *answer->items[i]; i++) {
		char *equals = strchr(answer->items[i], '=');

		if (equals)
			putenv(xstrdup(answer->items[i]));
		else
			unsetenv(answer->items[i]);
	}
	return i;
}

/*
 * rustdoc merges documentation tests of edition 2024 into one program, which
 * starts itself for each test. It uses a path that rustdoc sets in this
 * variable, but not if there is a runner. Such a program contains the name of
 * the variable.
 */
#define DOCTEST_VARIABLE "RUSTDOC_DOCTEST_BIN_PATH"

static bool is_merged_doctests(const char *program)
{
	CLEANUP(close_fd) int fd = open(program, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool has_name;
	void *all;

	if (strcmp(basename(program), "rust_out") != 0 || fd < 0 || fstat(fd, &status) < 0)
		return false;
	all = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (all == MAP_FAILED)
		return false;
	has_name = memmem(all, (size_t)status.st_size, DOCTEST_VARIABLE, strlen(DOCTEST_VARIABLE));
	munmap(all, (size_t)status.st_size);
	return has_name;
}

int cargo_runner_run(int argc, char **argv)
{
	CLEANUP(string_list_deinit) struct string_list answer = {0};
	size_t user_words = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, rest;
	char *const *command = argv + 2;
	struct error *err;

	if (argc < 3 || user_words >= (size_t)argc - 2)
		return message_failure(
			error_usage(error_new("%s can only be started by cargo", argv[0])));
	if (is_listing(command) || runner_is_xtask(command[user_words]))
		return execute(command);
	/* If the user has a runner, rustdoc does not set it without prof
	 * either. */
	if (!user_words && is_merged_doctests(command[0]))
		setenv(DOCTEST_VARIABLE, command[0], true);
	err = meet_prof(argv[0], command[user_words], &answer);
	if (err) {
		message("%s is not recorded: %s", command[user_words], error_text(err));
		error_free(err);
		return execute(command);
	}
	rest = change_environment(&answer);
	return rest < answer.count
		       ? cargo_each_record(&answer, rest + 1, command, command[user_words])
		       : execute(command);
}
