#include "proc/busiest.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/pids.h"
#include "proc/names.h"

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LEAST_PERCENT = 1 };

struct busiest_candidate {
	pid_t pid;
	uint64_t cpu_ns;
};

/* Returns 0 if the process has ended. */
static uint64_t busiest_cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock_read_ns(clock);
}

static struct busiest_candidate *busiest_list(uid_t user, bool any_user, size_t *ret_count)
{
	CLEANUP(close_dir) DIR *proc = opendir("/proc");
	struct busiest_candidate *items = NULL;
	size_t room = 0;

	*ret_count = 0;
	for (pid_t pid; (pid = pids_next(proc));) {
		if (pid == getpid() || (!any_user && pids_owner(pid) != user))
			continue;
		GROW(items, *ret_count, room);
		items[(*ret_count)++] = (struct busiest_candidate){pid, busiest_cpu_ns(pid)};
	}
	return items;
}

static void busiest_describe(pid_t pid, double cpus, struct busiest *ret)
{
	CLEANUP(names_cleanup) struct names *names = names_new("/proc");

	*ret = (struct busiest){.pid = pid, .cpus = cpus};
	snprintf(ret->name, sizeof(ret->name), "%s", names_get(names, pid, pid));
}

bool busiest_process(uid_t user, bool any_user, struct busiest *ret)
{
	const struct timespec pause = {.tv_nsec = 100 * NS_PER_MS};
	uint64_t start_ns = clock_now_ns(), most_ns, elapsed_ns;
	size_t count;
	CLEANUP(free_ptr)
	struct busiest_candidate *items = busiest_list(user, any_user, &count);
	pid_t pid = 0;

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	elapsed_ns = clock_now_ns() - start_ns;
	most_ns = elapsed_ns * LEAST_PERCENT / 100;
	for (size_t i = 0; i < count; i++) {
		uint64_t now_ns = busiest_cpu_ns(items[i].pid);

		if (now_ns < items[i].cpu_ns + most_ns || !pids_has_program(items[i].pid))
			continue;
		most_ns = now_ns - items[i].cpu_ns;
		pid = items[i].pid;
	}
	if (pid)
		busiest_describe(pid, (double)most_ns / (double)elapsed_ns, ret);
	return pid;
}
