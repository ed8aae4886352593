#include "proc/executed_file.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	SCRIPT_LINE_BYTES = 256, /* as the kernel reads it (BINPRM_BUF_SIZE) */
	SCRIPT_DEPTH = 5,	 /* interpreters that are scripts themselves */
};

static bool is_executable(const char *path)
{
	struct stat stat_buf;

	return !stat(path, &stat_buf) && S_ISREG(stat_buf.st_mode) && !access(path, X_OK);
}

/* To be freed; NULL: there is none. */
static char *look_up(const char *command)
{
	const char *at = getenv("PATH");

	if (strchr(command, '/'))
		return is_executable(command) ? xstrdup(command) : NULL;
	for (at = at ? at : "/bin:/usr/bin"; at;
	     at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		size_t len = strcspn(at, ":");
		CLEANUP(free_ptr)
		char *path = xasprintf("%.*s/%s", len ? (int)len : 1, len ? at : ".", command);

		if (is_executable(path))
			return STEAL(path);
	}
	return NULL;
}

/* ---- env(1) ---- */

static bool is_env(const char *command)
{
	return !strcmp(basename(command), "env");
}

/* After other options env(1) may clear the environment: it counts as the program then. */
static bool comes_before_command(const char *word)
{
	return strchr(word, '=') || !strcmp(word, "-S") || !strcmp(word, "--");
}

static const char *after_env(char *const *argv)
{
	const char *env = *argv;

	while (*argv && is_env(*argv)) {
		env = *argv++;
		while (*argv && comes_before_command(*argv))
			argv++;
	}
	return *argv && **argv != '-' ? *argv : env;
}

/* ---- Scripts ---- */

/* The command that is executed for the line of a script, to be freed; NULL: it is not a script. */
static char *script_command(int fd)
{
	static const char blanks[] = " \t\r";
	char line[SCRIPT_LINE_BYTES + 1];
	char *words[SCRIPT_LINE_BYTES / 2 + 1], *rest = NULL, *word;
	ssize_t len = pread(fd, line, SCRIPT_LINE_BYTES, 0);
	size_t count = 0;

	if (len < 3 || memcmp(line, "#!", 2) != 0)
		return NULL;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	for (word = strtok_r(line + 2, blanks, &rest); word; word = strtok_r(NULL, blanks, &rest))
		words[count++] = word;
	words[count] = NULL;
	return count ? xstrdup(after_env(words)) : NULL;
}

int executed_file_open(char *const *argv, char **path)
{
	CLEANUP(free_ptr) char *at = look_up(after_env(argv));

	*path = NULL;
	for (int depth = 0; at && depth < SCRIPT_DEPTH; depth++) {
		CLEANUP(close_fd)
		int fd = open(at, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		CLEANUP(free_ptr) char *next = fd < 0 ? NULL : script_command(fd);

		if (!next) {
			*path = STEAL(at);
			return steal_fd(&fd);
		}
		free(at);
		at = look_up(next);
	}
	return -1;
}
