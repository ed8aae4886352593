#include "tasks/program.h"

#include "base/alloc.h"
#include "base/timed_open.h"
#include "elf/elf_file.h"
#include "elf/file_origin.h"
#include "proc/process_links.h"
#include "sandbox/answer.h"
#include "tasks/layout_builder.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The names of the types alone can take 100 MB in the largest programs. */
enum { MEMORY_MB = 1024, CPU_SECONDS = 60 };
/* The number of programs in the cache. Further programs are not read. */
enum { PROGRAMS_MAX = 256 };

struct tasks_program_known {
	dev_t device;
	ino_t inode;
	struct timespec changed;
	uint64_t entry;
	struct task_layout *layout; /* NULL if it has none */
};

struct task_programs {
	const atomic_bool *cancel;
	struct timed_caller *caller;
	struct tasks_program_known *known;
	size_t count, room;
	char *problem;
	bool is_of_tokio; /* whether the program with the problem uses tokio */
};

struct task_programs *task_programs_new(const atomic_bool *cancel)
{
	struct task_programs *programs = xcalloc(1, sizeof(*programs));

	programs->cancel = cancel;
	programs->caller = timed_caller_new();
	return programs;
}

void task_programs_free(struct task_programs *programs)
{
	if (!programs)
		return;
	for (size_t i = 0; i < programs->count; i++)
		task_layout_free(programs->known[i].layout);
	timed_caller_free(programs->caller);
	free(programs->known);
	free(programs->problem);
	free(programs);
}

const char *task_programs_problem(const struct task_programs *programs)
{
	return programs->problem;
}

/* ---- Layouts ---- */

/* Runs in the confined process. Sends no bytes if the program has no tasks. */
static void tasks_program_build(struct channel *channel, void *user)
{
	CLEANUP(task_layout_cleanup) struct task_layout *layout = NULL;
	CLEANUP(error_cleanup) struct error *err = layout_build(user, &layout);
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len = 0;

	if (layout)
		bytes = task_layout_write(layout, &len);
	if (len > TASK_LAYOUT_BYTES_MAX)
		err = error_new("it has too many types");
	if (err)
		answer_send_error(channel, err);
	else
		answer_send(channel, bytes, len);
}

static struct error *read_layout(const struct task_programs *programs, struct elf_file *elf,
				 struct task_layout **ret)
{
	const struct answer_options options = {
		.what = "its types",
		.limits = {.memory_bytes = (uint64_t)MEMORY_MB << 20, .cpu_seconds = CPU_SECONDS},
		.bytes_max = TASK_LAYOUT_BYTES_MAX,
		.cancel = programs->cancel,
	};
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len;
	struct error *err = answer_ask(&options, tasks_program_build, elf, &bytes, &len);

	if (err || !len)
		return err;
	*ret = task_layout_read(bytes, len);
	return *ret ? NULL : answer_nonsense(&options);
}

/* ---- Programs ---- */

/*
 * Returns the address of the program's entry from the auxiliary vector, or 0 if
 * unknown.
 */
static uint64_t tasks_program_entry_of(pid_t pid)
{
	char path[64];
	uint64_t entry = 0, pair[2];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	while (file && !entry && fread(pair, sizeof(pair), 1, file) == 1)
		if (pair[0] == AT_ENTRY)
			entry = pair[1];
	if (file)
		fclose(file);
	return entry;
}

static const struct tasks_program_known *find_known(const struct task_programs *programs,
						    const struct stat *status)
{
	for (size_t i = 0; i < programs->count; i++) {
		const struct tasks_program_known *known = &programs->known[i];

		if (known->device == status->st_dev && known->inode == status->st_ino &&
		    known->changed.tv_sec == status->st_ctim.tv_sec &&
		    known->changed.tv_nsec == status->st_ctim.tv_nsec)
			return known;
	}
	return NULL;
}

/*
 * Prefers problems of programs that use tokio, and then the latest, because a
 * shell comes before the program that it starts.
 */
static void keep_problem(struct task_programs *programs, const char *name, bool has_tokio,
			 struct error *err)
{
	const char *hint = error_hint_text(err);

	if (has_tokio || !programs->is_of_tokio) {
		free(programs->problem);
		programs->problem = xasprintf("%s: %s%s%s", name, error_text(err), hint ? "; " : "",
					      hint ? hint : "");
		programs->is_of_tokio = has_tokio;
	}
	error_free(err);
}

static void read_program(struct task_programs *programs, struct elf_file *elf, const char *name,
			 struct tasks_program_known *known)
{
	bool is_readable = elf_file_has_section(elf, ".debug_info");
	struct error *err;

	known->entry = elf_file_entry(elf);
	if (!is_readable)
		err = error_hint(error_new("it has no debug information"),
				 "build it with debug = 2 (CARGO_PROFILE_RELEASE_DEBUG=2)");
	else
		err = read_layout(programs, elf, &known->layout);
	if (err)
		keep_problem(programs, name, is_readable, err);
}

static int open_program(struct task_programs *programs, pid_t pid, char *name, size_t len)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *path = xasprintf("%s/exe", links);
	const struct untrusted_name file = {.path = path, .user = UNTRUSTED_USER_UNKNOWN};
	ssize_t got;

	got = readlink(path, name, len - 1);
	name[got > 0 ? got : 0] = '\0';
	return timed_open(programs->caller, &file, 1, 0, NULL);
}

static const struct tasks_program_known *tasks_program_add_program(struct task_programs *programs,
								   int fd,
								   const struct stat *status,
								   const char *name)
{
	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct tasks_program_known known = {
		.device = status->st_dev, .inode = status->st_ino, .changed = status->st_ctim};
	struct error *err = NULL;

	if (file_origin_of(fd, status).may_stall) {
		close(fd);
		keep_problem(programs, name, false,
			     error_new("it is on a file system that may not answer"));
	} else {
		err = elf_file_open(fd, name, &elf);
	}
	if (elf)
		read_program(programs, elf, name, &known);
	error_free(err);
	GROW(programs->known, programs->count, programs->room);
	programs->known[programs->count] = known;
	return &programs->known[programs->count++];
}

struct task_program task_programs_find(struct task_programs *programs, pid_t pid)
{
	struct task_program ret = {0};
	const struct tasks_program_known *known = NULL;
	char name[4096];
	struct stat status;
	int fd = open_program(programs, pid, name, sizeof(name));

	if (fd < 0)
		return ret;
	if (!fstat(fd, &status))
		known = find_known(programs, &status);
	if (known || programs->count == PROGRAMS_MAX)
		close(fd);
	else
		known = tasks_program_add_program(programs, fd, &status, name);
	if (known && known->layout) {
		ret.layout = known->layout;
		ret.entry = tasks_program_entry_of(pid);
		ret.bias = ret.entry - known->entry;
	}
	return ret;
}
