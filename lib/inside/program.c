#include "inside/program.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "elf/file_origin.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
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

/* The file that the kernel executes for a command. -1: none, or it cannot be read. */
static int open_command(const char *command, char **path)
{
	CLEANUP(free_ptr) char *at = look_up(command);

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

/* ---- The file ---- */

/* Takes both. */
static struct inside_program *open_file(int fd, char *path)
{
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = xcalloc(1, sizeof(*program));
	CLEANUP(error_cleanup) struct error *err = NULL;

	program->path = path;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &program->file) < 0) {
		close(fd);
		return NULL;
	}
	err = elf_file_open(fd, path, &program->elf);
	return err ? NULL : STEAL(program);
}

struct inside_program *inside_program_of_command(char *const *argv)
{
	char *path = NULL;
	int fd = open_command(after_env(argv), &path);

	return open_file(fd, path);
}

/* A descriptor that can be read; -1: another user could write to the file while it is read. */
static int open_own(const char *name)
{
	CLEANUP(close_fd) int fd = open(name, O_PATH | O_CLOEXEC);
	CLEANUP(free_ptr) char *again = xasprintf("/proc/self/fd/%d", fd);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || file_origin_of(fd, &st).is_foreign)
		return -1;
	return open(again, O_RDONLY | O_CLOEXEC);
}

struct inside_program *inside_program_of_process(pid_t pid)
{
	CLEANUP(free_ptr) char *link = xasprintf("/proc/%d/exe", (int)pid);
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	if (len < 0)
		return NULL;
	path[len] = '\0';
	return open_file(open_own(link), xstrdup(path));
}

void inside_program_free(struct inside_program *program)
{
	if (!program)
		return;
	elf_file_free(program->elf);
	free(program->path);
	free(program);
}
