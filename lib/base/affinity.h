/*
 * The number of CPUs that this process may run on, which limits how many
 * threads are useful. Source: sched_getaffinity(2), CPU_SET(3).
 */
#ifndef PROF_BASE_AFFINITY_H
#define PROF_BASE_AFFINITY_H

/* Returns at least 1, also if the number is unknown. */
unsigned affinity_cpu_count(void);

#endif
