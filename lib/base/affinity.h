/*
 * The number of CPUs that this process may run on: how many threads are of use.
 * Source: sched_getaffinity(2), CPU_SET(3).
 */
#ifndef PROF_BASE_AFFINITY_H
#define PROF_BASE_AFFINITY_H

/* At least 1; 1 if the kernel does not say. */
unsigned affinity_cpu_count(void);

#endif
