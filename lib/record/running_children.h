/*
 * Finds children of the target's processes that are not sampled because they
 * were started before the recording (perf events are inherited at fork), and
 * measures the CPU time that they use.
 */
#ifndef PROF_RECORD_RUNNING_CHILDREN_H
#define PROF_RECORD_RUNNING_CHILDREN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct running_child;

/* A zeroed struct is empty. */
struct running_children {
	struct running_child *items; /* the target's processes, followed by their descendants */
	size_t target_count, count;
};

struct running_children_usage {
	size_t count; /* running descendants that have used CPU time */
	uint64_t cpu_ns;
	uint64_t target_cpu_ns; /* of the target's running processes */
};

/* Lists the descendants. Must be called before the events are opened. */
void running_children_begin(struct running_children *children, const pid_t *pids, size_t count);
void running_children_deinit(struct running_children *children);

/* Returns the usage since running_children_begin(). */
struct running_children_usage running_children_usage(const struct running_children *children);

/*
 * Returns a sentence with the number of unsampled children and the option that
 * samples them. Returns NULL if they used less than 1 % of the CPU time, or
 * less than 10 ms. The caller frees the sentence.
 */
char *running_children_text(const struct running_children_usage *usage, const pid_t *pids,
			    size_t count);

#endif
