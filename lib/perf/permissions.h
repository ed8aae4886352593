/*
 * What perf_event_open(2) lets prof sample here: tried out, not concluded from settings.
 */
#ifndef PROF_PERF_PERMISSIONS_H
#define PROF_PERF_PERMISSIONS_H

#include <sys/types.h>

/* 0: allowed; else the errno of the refusal. */
struct permissions {
	int user;   /* the task in user space … */
	int kernel; /* … and in the kernel */
	int cpus;   /* everything that runs on a CPU */
};

/* tid 0: prof itself. */
void permissions_probe(pid_t tid, struct permissions *ret);

#endif
