#include "probe/target_files.h"

#include "base/alloc.h"
#include "base/read_all.h"
#include "base/untrusted_file.h"
#include "probe/library_cache.h"
#include "proc/maps.h"
#include "proc/process_links.h"
#include "proc/process_root.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Limit for the cache of the dynamic linker. */
enum { CACHE_BYTES_MAX = 16 << 20 };

void target_files_deinit(struct target_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		close_fd(&files->items[i].fd);
		free(files->items[i].path);
	}
	free(files->items);
	*files = (struct target_files){0};
}

static bool target_files_is_same(int a, int b)
{
	struct stat of_a, of_b;

	return !fstat(a, &of_a) && !fstat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

/*
 * Returns the path of the descriptor, or the name that was opened if the path
 * is unknown.
 */
static char *target_files_path_of(int fd, const char *name)
{
	char link[64], path[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, sizeof(path) - 1);
	return len > 0 ? xstrndup(path, (size_t)len) : xstrdup(name);
}

/* Returns 0 or an errno. If `path` is NULL, uses the path of the file. */
static int target_files_add_file(struct target_files *files, const char *name, const char *path,
				 pid_t pid)
{
	int fd = untrusted_file_open(
		&(struct untrusted_name){.path = name, .user = UNTRUSTED_USER_UNKNOWN});

	if (fd < 0)
		return errno;
	for (size_t i = 0; i < files->count; i++) {
		if (target_files_is_same(files->items[i].fd, fd)) {
			close(fd);
			return 0;
		}
	}
	GROW(files->items, files->count, files->room);
	files->items[files->count++] =
		(struct target_file){.fd = fd,
				     .path = path ? xstrdup(path) : target_files_path_of(fd, name),
				     .pid = pid};
	return 0;
}

/* ---- Programs ---- */

/* Searches PATH like execvp(3). Returns false if there is no such program. */
static bool add_from_path(struct target_files *files, const char *name)
{
	const char *at = getenv("PATH");

	while (at) {
		size_t len = strcspn(at, ":");
		CLEANUP(free_ptr)
		char *path = len ? xasprintf("%.*s/%s", (int)len, at, name) : xstrdup(name);

		if (!access(path, X_OK) && !target_files_add_file(files, path, NULL, 0))
			return true;
		at = at[len] ? at + len + 1 : NULL;
	}
	return false;
}

static struct error *target_files_add_program(struct target_files *files, const char *program)
{
	int number;

	if (!strchr(program, '/'))
		return add_from_path(files, program) ? NULL
						     : error_new("PATH has no program %s", program);
	number = target_files_add_file(files, program, NULL, 0);
	return number ? error_errno(number, "open %s", program) : NULL;
}

/* ---- Processes ---- */

static struct error *add_program_of(struct target_files *files, pid_t pid)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *exe = xasprintf("%s/exe", links);
	int number = 0;

	if (kill(pid, 0) < 0 && errno == ESRCH)
		return error_errno(ESRCH, "process %d", (int)pid);
	number = target_files_add_file(files, exe, NULL, pid);
	return number ? error_errno(number, "open the program of process %d", (int)pid) : NULL;
}

/*
 * Adds the mapped file itself if the kernel provides it, otherwise the file
 * with its name.
 */
static void add_mapped(struct target_files *files, pid_t pid, const struct mapping *mapping)
{
	CLEANUP(free_ptr)
	char *link = xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, mapping->start,
			       mapping->end);
	CLEANUP(free_ptr) char *inside = process_root_name("/proc", pid, mapping->path);
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *name = xasprintf("%s/root%s", links, inside);

	if (target_files_add_file(files, link, mapping->path, pid))
		target_files_add_file(files, name, mapping->path, pid);
}

/* If `stem` is NULL, adds all libraries. */
static void add_libraries_of(struct target_files *files, pid_t pid, const char *stem)
{
	size_t len = 0;
	CLEANUP(free_ptr) char *text = maps_load("/proc", pid, &len);
	struct maps maps = {.rest = bytes_of(text, len)};
	struct mapping mapping;

	while (text && maps_next(&maps, &mapping))
		if (mapping.path[0] == '/' && (!stem || library_is(basename(mapping.path), stem)))
			add_mapped(files, pid, &mapping);
}

static struct error *add_processes(struct target_files *files, const pid_t *pids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct error *err = add_program_of(files, pids[i]);

		if (err)
			return err;
	}
	files->programs = files->count;
	for (size_t i = 0; i < count; i++)
		add_libraries_of(files, pids[i], NULL);
	return NULL;
}

/* ---- Names ---- */

static void add_from_cache(struct target_files *files, const char *stem)
{
	CLEANUP(close_file) FILE *file = fopen("/etc/ld.so.cache", "re");
	CLEANUP(free_ptr) char *bytes = NULL;
	const char *path = NULL;
	size_t len = 0;

	if (file && !read_all(file, CACHE_BYTES_MAX, &bytes, &len))
		path = library_cache_find(bytes_of(bytes, len), stem);
	if (path)
		target_files_add_file(files, path, NULL, 0);
}

static bool is_program_of(pid_t pid, const char *name)
{
	CLEANUP(free_ptr) char *links = process_links("/proc", pid);
	CLEANUP(free_ptr) char *exe = xasprintf("%s/exe", links);
	char path[4096];
	ssize_t len = readlink(exe, path, sizeof(path) - 1);

	path[len > 0 ? len : 0] = '\0';
	return !strcmp(basename(path), name);
}

/* Searches recorded programs first, then libraries, then installed programs. */
static struct error *target_files_add_named(struct target_files *files, const char *name,
					    const struct probe_context *context)
{
	if (context->program && !strcmp(basename(context->program), name))
		return target_files_add_program(files, context->program);
	for (size_t i = 0; i < context->pid_count; i++)
		if (is_program_of(context->pids[i], name))
			return add_program_of(files, context->pids[i]);
	for (size_t i = 0; i < context->pid_count; i++)
		add_libraries_of(files, context->pids[i], name);
	if (!files->count)
		add_from_cache(files, name);
	if (!files->count && !add_from_path(files, name))
		return error_hint(error_new("there is no program or library %s", name),
				  "prof searches the recorded programs, the libraries of ldconfig "
				  "-p, and PATH; for any other file, give its path");
	return NULL;
}

struct error *target_files_find(const struct probe_spec *spec, const struct probe_context *context,
				struct target_files *ret)
{
	CLEANUP(target_files_deinit) struct target_files files = {0};
	struct error *err = NULL;

	if (spec->pid)
		err = add_processes(&files, &spec->pid, 1);
	else if (spec->target && strchr(spec->target, '/'))
		err = target_files_add_program(&files, spec->target);
	else if (spec->target)
		err = target_files_add_named(&files, spec->target, context);
	else if (context->program)
		err = target_files_add_program(&files, context->program);
	else if (context->pid_count)
		err = add_processes(&files, context->pids, context->pid_count);
	else
		err = error_hint(
			error_new("it does not name a program"),
			"name one (uprobe:PROGRAM:FUNCTION), or record a command or -p PID");
	if (err)
		return err;
	if (!files.programs)
		files.programs = files.count;
	*ret = files;
	files = (struct target_files){0};
	return NULL;
}
