#include "inside/program.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "elf/file_origin.h"
#include "proc/executed_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

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
	char *path;
	int fd = executed_file_open(argv, &path);

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
