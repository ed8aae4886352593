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
	SCRIPT_LINE_BYTES = 256, /* as in the kernel (BINPRM_BUF_SIZE) */
	SCRIPT_DEPTH = 5,	 /* interpreters that are scripts themselves */
};

static bool is_executable(const char *path)
{
	struct stat stat_buf;

	return !stat(path, &stat_buf) && S_ISREG(stat_buf.st_mode) && !access(path, X_OK);
}

/*
 * Returns the path, which the caller frees, or NULL if there is no such
 * command.
 */
static char *executed_file_look_up(const char *command)
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

/*
 * Other options of env(1) may clear the environment. In that case env(1) itself
 * counts as the program.
 */
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

/*
 * Returns the command that the first line of a script executes, or NULL if this
 * is not a script. The caller frees it.
 */
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
	CLEANUP(free_ptr) char *at = executed_file_look_up(after_env(argv));

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
		at = executed_file_look_up(next);
	}
	return -1;
}
