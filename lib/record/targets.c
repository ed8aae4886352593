#include "record/targets.h"

#include "base/alloc.h"
#include "base/pids.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct target_process {
	struct targets *targets;
	int fd;			  /* pidfd; -1 if the process had ended before */
	struct loop_watch *watch; /* NULL if the process has ended */
};

/* Reads "Tgid:" from /proc/PID/status. */
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

pid_t targets_main_process(const struct record_config *config)
{
	if (config->target.command)
		return config->target.command;
	if (config->target.pid_count > config->target.found_count)
		return process_of_thread(config->target.pids[0]);
	return config->target.tid_count ? process_of_thread(config->target.tids[0]) : 0;
}

static bool is_of_user(pid_t pid, uid_t user)
{
	return pid != getpid() && pids_owner(pid) == user;
}

void targets_of_user(uid_t user, pid_t **ret, size_t *ret_count)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");
	size_t room = 0;

	*ret = NULL;
	*ret_count = 0;
	for (pid_t pid; (pid = pids_next(proc));) {
		if (!is_of_user(pid, user))
			continue;
		GROW(*ret, *ret_count, room);
		(*ret)[(*ret_count)++] = pid;
	}
}

static void targets_on_end(void *user)
{
	struct target_process *process = user;
	struct targets *targets = process->targets;

	loop_unwatch(targets->loop, STEAL(process->watch));
	if (--targets->left == 0)
		targets->ended(targets->user);
}

/* A process that has already ended gets no descriptor. */
static struct error *targets_watch(struct targets *targets, struct target_process *process,
				   pid_t pid)
{
	process->targets = targets;
	process->fd = (int)syscall(SYS_pidfd_open, process_of_thread(pid), 0);
	if (process->fd < 0)
		return NULL;
	targets->left++;
	return loop_watch(targets->loop, process->fd, targets_on_end, process, &process->watch);
}

struct error *targets_open(struct targets *targets, const struct record_config *config,
			   struct loop *loop, loop_callback *ended, void *user)
{
	size_t pid_count = config->target.choice ? 0 : config->target.pid_count;
	struct error *err = NULL;

	*targets = (struct targets){
		.loop = loop,
		.tids = config->target.tids,
		.tid_count = config->target.tid_count,
		.ended = ended,
		.user = user,
	};
	targets->processes = xcalloc(pid_count, sizeof(*targets->processes));
	for (; targets->count < pid_count && !err; targets->count++)
		err = targets_watch(targets, &targets->processes[targets->count],
				    config->target.pids[targets->count]);
	return err;
}

void targets_close(struct targets *targets)
{
	for (size_t i = 0; i < targets->count; i++) {
		loop_unwatch(targets->loop, targets->processes[i].watch);
		close_fd(&targets->processes[i].fd);
	}
	free(targets->processes);
	*targets = (struct targets){0};
}

static bool threads_have_ended(const struct targets *targets)
{
	for (size_t i = 0; i < targets->tid_count; i++)
		if (process_of_thread(targets->tids[i]))
			return false;
	return true;
}

bool targets_have_ended(const struct targets *targets)
{
	if (targets->count)
		return !targets->left;
	return targets->tid_count && threads_have_ended(targets);
}
