#include "cmd/targets.h"

#include "base/alloc.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* "/proc/PID/status", "Tgid:". */
pid_t process_of_thread(pid_t tid)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d/status", tid);
	CLEANUP(close_file) FILE *status = fopen(path, "re");
	char line[256];
	pid_t pid = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "Tgid: %d", &pid) == 1)
			break;
	return pid;
}

/* By whom /proc says it is owned, as perf does. */
static bool is_of_user(pid_t pid, uid_t user)
{
	CLEANUP(free_ptr) char *path = xasprintf("/proc/%d", pid);
	struct stat st;

	return pid != getpid() && stat(path, &st) == 0 && st.st_uid == user;
}

static void add_processes(struct id_list *list, uid_t user)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]) || !is_of_user(pid, user))
			continue;
		GROW(list->items, list->count, list->room);
		list->items[list->count++] = pid;
	}
	if (proc)
		closedir(proc);
}

struct error *targets_find(struct sampling_options *options)
{
	if (!options->user.is_given)
		return NULL;
	add_processes(&options->pids, options->user.id);
	return options->pids.count
		       ? NULL
		       : error_new("no process of user %u is running", (unsigned)options->user.id);
}

void targets_open(struct targets *targets, const struct id_list *pids, const struct id_list *tids)
{
	*targets = (struct targets){.count = pids->count, .tids = tids};
	targets->fds = xcalloc(pids->count, sizeof(*targets->fds));
	for (size_t i = 0; i < pids->count; i++)
		targets->fds[i] = (struct pollfd){
			.fd = (int)syscall(SYS_pidfd_open, process_of_thread(pids->items[i]), 0),
			.events = POLLIN,
		};
}

void targets_close(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		close_fd(&targets->fds[i].fd);
	free(targets->fds);
	*targets = (struct targets){0};
}

static bool threads_have_ended(const struct id_list *tids)
{
	for (size_t i = 0; i < tids->count; i++)
		if (process_of_thread(tids->items[i]))
			return false;
	return true;
}

bool targets_have_ended(struct targets *targets)
{
	if (!targets->count)
		return targets->tids->count && threads_have_ended(targets->tids);
	poll(targets->fds, targets->count, 0);
	for (size_t i = 0; i < targets->count; i++)
		if (targets->fds[i].fd >= 0 && !targets->fds[i].revents)
			return false;
	return true;
}
