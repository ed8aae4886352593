/*
 * Processes that are chosen by a rule and not by their numbers: those of cgroups and their
 * descendants, or those whose name matches. They are looked for in the cgroups' files or in /proc.
 */
#ifndef PROF_RECORD_PROCESS_CHOICE_H
#define PROF_RECORD_PROCESS_CHOICE_H

#include "perf/options.h"

#include <stdbool.h>

/* Borrowed. */
struct process_choice {
	char *const *names; /* globs of names (comm); none: the cgroups' */
	size_t name_count;
	char *const *cgroups; /* their directories */
	size_t cgroup_count;
	struct target_rule rule;
};

/* Those that run now, each once, without prof itself. The caller frees *ret. */
void process_choice_list(const struct process_choice *choice, pid_t **ret, size_t *ret_count);
/* Whether none can follow: all cgroups have been removed. */
bool process_choice_is_over(const struct process_choice *choice);

#endif
