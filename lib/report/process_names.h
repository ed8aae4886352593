/*
 * The name of each label set's process: the first level of call trees that
 * start with processes.
 */
#ifndef PROF_REPORT_PROCESS_NAMES_H
#define PROF_REPORT_PROCESS_NAMES_H

#include "profile/profile.h"

/*
 * Returns the name of a thread's process, borrowed from the profile. If the
 * file does not contain it, returns the name of the main program, or "" if that
 * is unknown as well. Returns NULL if the profile has no processes at all,
 * because pprof files of other tools may contain only stacks.
 */
const char *process_name(const struct profile *profile, const struct profile_thread *thread);

/* The names of all processes. */
struct process_names {
	const char **names; /* distinct, in bytewise order */
	uint32_t count;
	uint32_t *of_labels; /* by label set: index of the name; `count` if unknown */
};

void process_names_init(struct process_names *processes, const struct profile *profile);
void process_names_deinit(struct process_names *processes);

#endif
