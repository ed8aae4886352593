/*
 * Children of a target's processes that are not sampled because they ran before the recording
 * (perf events are inherited at fork), and the CPU time that they use meanwhile.
 */
#ifndef PROF_RECORD_RUNNING_CHILDREN_H
#define PROF_RECORD_RUNNING_CHILDREN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct running_child;

/* Zeroed: none. */
struct running_children {
	struct running_child *items; /* the target's processes, then their descendants */
	size_t target_count, count;
};

struct running_children_usage {
	size_t count; /* descendants that have used CPU time and still run */
	uint64_t cpu_ns;
	uint64_t target_cpu_ns; /* of the target's processes that still run */
};

/* Lists the descendants. To be called before the events are opened. */
void running_children_begin(struct running_children *children, const pid_t *pids, size_t count);
void running_children_deinit(struct running_children *children);

/* Since running_children_begin(). */
struct running_children_usage running_children_usage(const struct running_children *children);

/* How many are not sampled, and the option that samples them; NULL if they used less than 1 % of
 * the CPU time, or less than 10 ms. The caller frees it. */
char *running_children_text(const struct running_children_usage *usage, const pid_t *pids,
			    size_t count);

#endif
