#include "serve/processes.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/line_reader.h"
#include "base/pids.h"
#include "base/text.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { STAT_BYTES_MAX = 1024, CGROUP_LINE_MAX = 4200, CGROUP_BYTES_MAX = 128 << 10 };

/*
 * Parses "7 (a name) S 1 …". The name may have parentheses. CPU times are the
 * 12th and 13th field after it.
 */
static bool parse_stat(char *text, struct process *ret)
{
	char *begin = strchr(text, '('), *end = strrchr(text, ')');
	uint64_t user, system;

	if (!begin || !end || end < begin)
		return false;
	*end = '\0';
	snprintf(ret->comm, sizeof(ret->comm), "%s", begin + 1);
	if (sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		   &user, &system) != 2)
		return false;
	ret->cpu_ticks = user + system;
	return true;
}

static bool processes_read_process(int proc, pid_t pid, struct process *ret)
{
	char path[32], text[STAT_BYTES_MAX + 1];
	CLEANUP(close_fd) int fd = -1;
	struct stat st;
	ssize_t len;

	snprintf(path, sizeof(path), "%d/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	len = read(fd, text, STAT_BYTES_MAX);
	if (len <= 0)
		return false;
	text[len] = '\0';
	*ret = (struct process){.pid = pid, .user = st.st_uid};
	return parse_stat(text, ret);
}

static int by_pid(const void *a, const void *b)
{
	const struct process *left = a, *right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static int by_use(const void *a, const void *b)
{
	const struct process *left = a, *right = b;

	if (left->cpus != right->cpus)
		return left->cpus < right->cpus ? 1 : -1;
	return by_pid(a, b);
}

void processes_read(struct processes *ret)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");
	struct process process;
	pid_t pid;

	*ret = (struct processes){.at_ns = clock_now_ns()};
	while ((pid = pids_next(proc))) {
		if (!processes_read_process(dirfd(proc), pid, &process))
			continue;
		GROW(ret->items, ret->count, ret->room);
		ret->items[ret->count++] = process;
	}
	if (ret->count)
		qsort(ret->items, ret->count, sizeof(*ret->items), by_pid);
}

void processes_compare(struct processes *now, const struct processes *before)
{
	double seconds = (double)(now->at_ns - before->at_ns) / 1e9;
	double ticks = seconds * (double)sysconf(_SC_CLK_TCK);

	for (size_t i = 0; i < now->count; i++) {
		struct process *process = &now->items[i];
		const struct process *found = before->count
						      ? bsearch(process, before->items,
								before->count,
								sizeof(*before->items), by_pid)
						      : NULL;

		process->cpus = found && ticks > 0 && process->cpu_ticks > found->cpu_ticks
					? (double)(process->cpu_ticks - found->cpu_ticks) / ticks
					: 0;
	}
	if (now->count)
		qsort(now->items, now->count, sizeof(*now->items), by_use);
}

void processes_deinit(struct processes *processes)
{
	free(processes->items);
	*processes = (struct processes){0};
}

bool processes_have_name(const struct processes *processes, const char *pattern)
{
	for (size_t i = 0; i < processes->count; i++)
		if (!fnmatch(pattern, processes->items[i].comm, 0))
			return true;
	return false;
}

static bool is_below(const char *path, const char *above)
{
	size_t len = strlen(above);

	while (len && above[len - 1] == '/')
		len--;
	return !strncmp(path, above, len) && (!path[len] || path[len] == '/');
}

/* Lines are "4:memory:/a/path". */
static bool is_in_cgroup(pid_t pid, const char *above)
{
	char path[32];
	CLEANUP(close_file) FILE *in = NULL;
	CLEANUP(line_reader_deinit) struct line_reader lines;
	bool found = false;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	in = fopen(path, "re");
	line_reader_init(&lines, in, CGROUP_LINE_MAX, in ? CGROUP_BYTES_MAX : 0);
	while (in && !found && line_reader_next(&lines)) {
		const char *colon = strchr(lines.line, ':');
		const char *second = colon ? strchr(colon + 1, ':') : NULL;

		found = second && is_below(second + 1, above);
	}
	return found;
}

bool processes_have_cgroup(const struct processes *processes, const char *path)
{
	for (size_t i = 0; i < processes->count; i++)
		if (is_in_cgroup(processes->items[i].pid, path))
			return true;
	return false;
}
