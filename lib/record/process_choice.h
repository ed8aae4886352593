/*
 * Selects processes by a rule instead of by pid: those in cgroups and their
 * descendants, or those with a matching name. Lists them from the files of the
 * cgroups or from /proc.
 */
#ifndef PROF_RECORD_PROCESS_CHOICE_H
#define PROF_RECORD_PROCESS_CHOICE_H

#include "perf/options.h"

#include <stdbool.h>

/* All members are borrowed. */
struct process_choice {
	char *const *names; /* globs for the name (comm); an empty list selects by cgroup */
	size_t name_count;
	char *const *cgroups; /* directories of the cgroups */
	size_t cgroup_count;
	struct target_rule rule;
};

/* Lists the running processes that match, each once and without prof itself.
 * The caller frees *ret. */
void process_choice_list(const struct process_choice *choice, pid_t **ret, size_t *ret_count);
/* Whether no process can match any more, because all cgroups were removed. */
bool process_choice_is_over(const struct process_choice *choice);

#endif
