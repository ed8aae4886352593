#include "proc/cgroup.h"

#include "base/alloc.h"
#include "base/line_reader.h"
#include "base/text.h"
#include "proc/cgroup_name.h"

#include <mntent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	CGROUP_LINE_BYTES_MAX = 8 << 10, /* a path of PATH_MAX, and the controllers */
	FILE_BYTES_MAX = 64 << 10,
	MOUNT_BYTES_MAX = 16 << 10,
	DEPTH_MAX = 64, /* nesting of cgroups; systemd and Kubernetes need fewer than 12 */
};

/* Examples: "4:memory:/user.slice", "0::/user.slice". */
static const char *path_of_line(const char *line)
{
	const char *at = strchr(line, ':');

	at = at ? strchr(at + 1, ':') : NULL;
	return at && at[1] == '/' ? at + 1 : NULL;
}

/* Returns how informative a line is. */
static unsigned cgroup_rank(const char *line, const char *path)
{
	struct cgroup_name name;

	if (!strcmp(path, "/"))
		return 0;
	if (cgroup_name_of(path, &name))
		return 3;
	return text_begins(line, "0::") || strstr(line, ":perf_event:") ? 2 : 1;
}

static char *best_path(FILE *file)
{
	CLEANUP(line_reader_deinit) struct line_reader lines;
	unsigned best_rank = 0;
	char *best = NULL;

	line_reader_init(&lines, file, CGROUP_LINE_BYTES_MAX, FILE_BYTES_MAX);
	while (line_reader_next(&lines)) {
		const char *path = path_of_line(lines.line);

		if (!path || (best && cgroup_rank(lines.line, path) <= best_rank))
			continue;
		best_rank = cgroup_rank(lines.line, path);
		free(best);
		best = xstrdup(path);
	}
	return best;
}

char *cgroup_of_process(const char *proc, pid_t pid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%d/cgroup", proc, (int)pid);
	CLEANUP(close_file) FILE *file = fopen(path, "re");

	/* The line reader has its own buffer. */
	if (file)
		setvbuf(file, NULL, _IONBF, 0);
	return file ? best_path(file) : NULL;
}

/* Only the directory of a cgroup contains this file. */
static bool is_cgroup(const char *directory)
{
	CLEANUP(free_ptr) char *processes = xasprintf("%s/cgroup.procs", directory);
	struct stat st;

	return stat(processes, &st) == 0;
}

/*
 * Returns how likely a hierarchy accepts perf events. Version 2 does if no
 * other hierarchy has the controller.
 */
static int aptness(const struct mntent *mount)
{
	if (hasmntopt(mount, "perf_event"))
		return 2;
	return !strcmp(mount->mnt_type, "cgroup2");
}

static bool cgroup_is_in(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return !strncmp(path, directory, len) && (!path[len] || path[len] == '/');
}

/* Returns the directory with that name in a hierarchy, or NULL. */
static char *cgroup_find_in(const struct mntent *mount, const char *name)
{
	CLEANUP(free_ptr) char *directory = NULL;

	if (strcmp(mount->mnt_type, "cgroup") != 0 && strcmp(mount->mnt_type, "cgroup2") != 0)
		return NULL;
	if (cgroup_is_in(name, mount->mnt_dir))
		directory = xstrdup(name);
	else
		directory = xasprintf("%s%s%s", mount->mnt_dir, *name == '/' ? "" : "/", name);
	return is_cgroup(directory) ? STEAL(directory) : NULL;
}

bool cgroup_find_directory(const char *proc, const char *name, struct cgroup_directory *ret)
{
	CLEANUP(free_ptr) char *mounts_path = xasprintf("%s/self/mounts", proc);
	CLEANUP(free_ptr) char *buffer = xmalloc(MOUNT_BYTES_MAX);
	FILE *mounts = setmntent(mounts_path, "re");
	struct mntent mount;
	int best = -1;

	*ret = (struct cgroup_directory){0};
	while (mounts && getmntent_r(mounts, &mount, buffer, MOUNT_BYTES_MAX)) {
		char *directory = aptness(&mount) > best ? cgroup_find_in(&mount, name) : NULL;

		if (!directory)
			continue;
		free(ret->path);
		ret->path = directory;
		best = aptness(&mount);
	}
	ret->takes_events = best > 0;
	if (mounts)
		endmntent(mounts);
	return ret->path;
}

void cgroup_directory_deinit(struct cgroup_directory *directory)
{
	free(directory->path);
	*directory = (struct cgroup_directory){0};
}

static void processes_of(const char *directory, void (*found)(void *user, pid_t pid), void *user)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/cgroup.procs", directory);
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	int pid;

	/* 0 is a process in another PID namespace. */
	while (file && fscanf(file, "%d", &pid) == 1)
		if (pid > 0)
			found(user, pid);
}

static void cgroup_walk(const char *directory, unsigned depth, void (*found)(void *user, pid_t pid),
			void *user)
{
	CLEANUP(close_dir) DIR *dir = opendir(directory);
	struct dirent *entry;

	processes_of(directory, found, user);
	while (dir && depth < DEPTH_MAX && (entry = readdir(dir))) {
		CLEANUP(free_ptr) char *path = NULL;

		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		path = xasprintf("%s/%s", directory, entry->d_name);
		cgroup_walk(path, depth + 1, found, user);
	}
}

void cgroup_processes(const char *directory, void (*found)(void *user, pid_t pid), void *user)
{
	cgroup_walk(directory, 0, found, user);
}
