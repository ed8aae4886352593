/*
 * The running processes of this machine and their CPU usage. Source: proc(5).
 */
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
	double cpus; /* average usage in CPUs, set by processes_compare() */
};

struct processes {
	struct process *items; /* by pid */
	size_t count, room;
	uint64_t at_ns; /* clock_now_ns() */
};

void processes_read(struct processes *ret);
/*
 * Sets `cpus` of processes that already ran at `before`, and 0 for others.
 * Sorts by it, highest first.
 */
void processes_compare(struct processes *now, const struct processes *before);
/* Accepts a zeroed struct. */
void processes_deinit(struct processes *processes);

/* Returns whether there is a process whose name matches the glob(7) pattern. */
bool processes_have_name(const struct processes *processes, const char *pattern);
/*
 * Returns whether there is a process in the cgroup or below it. Compares paths;
 * opens none.
 */
bool processes_have_cgroup(const struct processes *processes, const char *path);

#endif
