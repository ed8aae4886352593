/*
 * Finds out what perf_event_open(2) lets prof sample, by trying it and not from
 * settings.
 */
#ifndef PROF_PERF_PERMISSIONS_H
#define PROF_PERF_PERMISSIONS_H

#include <sys/types.h>

/* Each is 0 if allowed, otherwise the errno of the refusal. */
struct permissions {
	int user;   /* sampling the task in user space */
	int kernel; /* sampling the task in the kernel */
	int cpus;   /* sampling everything that runs on a CPU */
};

/* tid is 0 for prof itself. */
void permissions_probe(pid_t tid, struct permissions *ret);

#endif
