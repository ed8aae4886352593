#include "inside/program.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "elf/file_origin.h"
#include "proc/executed_file.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes ownership of both arguments. */
static struct inside_program *inside_program_open_file(int fd, char *path)
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

/* ---- Programs that are passed to the dynamic loader ---- */

/*
 * Recognizes glibc's loader whatever its file is called. glibc's libraries
 * contain the name, too, but they have an interpreter.
 */
static bool is_loader(const struct inside_program *program)
{
	static const char name[] = "_rtld_global_ro";
	struct bytes names = elf_file_section(program->elf, ".dynstr").data;

	return !elf_file_has_section(program->elf, ".interp") && names.at &&
	       memmem(names.at, bytes_left(&names), name, sizeof(name));
}

static bool takes_argument(const char *option)
{
	static const char *const options[] = {"--library-path",
					      "--glibc-hwcaps-prepend",
					      "--glibc-hwcaps-mask",
					      "--inhibit-rpath",
					      "--audit",
					      "--preload",
					      "--argv0"};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(option, options[i]))
			return true;
	return false;
}

/* Returns the arguments after the loader's name, which env(1) may precede. */
static char *const *after_loader(char *const *argv, const char *path)
{
	while (*argv && strcmp(basename(*argv), basename(path)) != 0)
		argv++;
	return *argv ? argv + 1 : argv;
}

/* Returns NULL if the loader gets no program and only prints something. */
static const char *find_given(char *const *argv)
{
	char *const *at = argv;

	while (*at && text_begins(*at, "--")) {
		if (!strcmp(*at, "--"))
			return at[1];
		if (takes_argument(*at) && at[1])
			at++;
		at++;
	}
	return *at;
}

/*
 * Opens the program by its file name. Without a slash, the name is that of a
 * library.
 */
static struct inside_program *open_given(const struct inside_program *loader, char *const *argv)
{
	const char *name = find_given(argv);
	struct inside_program *given;

	if (!name || !strchr(name, '/'))
		return NULL;
	given = inside_program_open_file(open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY),
					 xstrdup(name));
	if (!given)
		return NULL;
	given->file = loader->file;
	return given;
}

struct inside_program *inside_program_of_command(char *const *argv)
{
	char *path;
	int fd = executed_file_open(argv, &path);
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = inside_program_open_file(fd, path);

	if (program && is_loader(program))
		return open_given(program, after_loader(argv, program->path));
	return STEAL(program);
}

/*
 * Returns a readable descriptor, or -1 if another user could write to the file
 * while it is read.
 */
static int open_own(const char *name)
{
	CLEANUP(close_fd) int fd = open(name, O_PATH | O_CLOEXEC);
	CLEANUP(free_ptr) char *again = xasprintf("/proc/self/fd/%d", fd);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || file_origin_of(fd, &st).is_untrusted)
		return -1;
	return open(again, O_RDONLY | O_CLOEXEC);
}

struct inside_program *inside_program_of_process(pid_t pid)
{
	CLEANUP(free_ptr) char *link = xasprintf("/proc/%d/exe", (int)pid);
	CLEANUP(inside_program_cleanup) struct inside_program *program = NULL;
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path) - 1);

	if (len < 0)
		return NULL;
	path[len] = '\0';
	program = inside_program_open_file(open_own(link), xstrdup(path));
	return program && is_loader(program) ? NULL : STEAL(program);
}

void inside_program_free(struct inside_program *program)
{
	if (!program)
		return;
	elf_file_free(program->elf);
	free(program->path);
	free(program);
}
