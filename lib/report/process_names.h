/*
 * The name of each label set's process: the first level of call trees that start with processes.
 */
#ifndef PROF_REPORT_PROCESS_NAMES_H
#define PROF_REPORT_PROCESS_NAMES_H

#include "profile/profile.h"

/*
 * The name of a thread's process. Where the file names no process: the main program; "" if that is
 * unknown as well. NULL if the profile knows no processes at all (pprof files of other producers
 * may hold stacks alone). Borrowed from the profile.
 */
const char *process_name(const struct profile *profile, const struct profile_thread *thread);

/* The names of all processes. */
struct process_names {
	const char **names; /* distinct, in bytewise order */
	uint32_t count;
	uint32_t *of_labels; /* by label set: index of the name; count: unknown */
};

void process_names_init(struct process_names *processes, const struct profile *profile);
void process_names_deinit(struct process_names *processes);

#endif
