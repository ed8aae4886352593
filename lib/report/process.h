/*
 * What stands for a thread's process on the first level of a picture.
 */
#ifndef PROF_REPORT_PROCESS_H
#define PROF_REPORT_PROCESS_H

#include "profile/profile.h"

/*
 * The name of a thread's process; of the program that was asked about where the file names no
 * process; "" where it has none. NULL where nothing is known of a process: profiles of other makes
 * may have frames alone. Borrowed from the profile.
 */
const char *process_name(const struct profile *profile, const struct profile_thread *thread);

/* All names of processes. */
struct processes {
	const char **names; /* distinct, in bytewise order */
	uint32_t count;
	uint32_t *of_thread; /* its index; count where nothing is known */
};

void processes_init(struct processes *processes, const struct profile *profile);
void processes_deinit(struct processes *processes);

#endif
