/* The processes that run on this machine, and how much of a CPU each uses. Source: proc(5). */
#ifndef PROF_SERVE_PROCESSES_H
#define PROF_SERVE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid;
	uid_t user;
	uint64_t cpu_ticks; /* so far */
	char comm[32];
	double cpus; /* used on average: processes_compare() */
};

struct processes {
	struct process *items; /* by pid */
	size_t count, room;
	uint64_t at_ns; /* clock_now_ns() */
};

void processes_read(struct processes *ret);
/* Sets cpus of those that ran at `before`, 0 of the others, and sorts by it, the most first. */
void processes_compare(struct processes *now, const struct processes *before);
/* A zeroed one has nothing to free. */
void processes_deinit(struct processes *processes);

/* Whether there is a process whose name matches the glob(7) pattern. */
bool processes_have_name(const struct processes *processes, const char *pattern);
/* Whether there is one in the cgroup, or below it: paths are compared, none is opened. */
bool processes_have_cgroup(const struct processes *processes, const char *path);

#endif
