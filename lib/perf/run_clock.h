/*
 * Proves that a sampled thread has hardly run since its sample, however late
 * the caller is and on whatever CPU.
 *
 * A sample can contain how long its thread had run (record_sample.running_ns).
 * The kernel keeps the same time for another event on the thread, which this
 * module opens; both run on the same clock. Their difference is constant, plus
 * the time between the sample and the switch to another thread, which is a few
 * microseconds. Samples after which the caller has run first (standstill.h) show
 * how large it is.
 */
#ifndef PROF_PERF_RUN_CLOCK_H
#define PROF_PERF_RUN_CLOCK_H

#include "perf/standstill.h"

enum { RUN_CLOCK_THREADS = 64 };

/* For one reading thread. Zeroed: empty. */
struct run_clock {
	struct run_clock_thread {
		pid_t tid; /* 0 if it is unused */
		int fd;	   /* -1 if the kernel refuses the event */
		/* Smallest difference of the two times, and in how many samples
		 * it was seen. */
		int64_t least_ns;
		unsigned seen;
	} threads[RUN_CLOCK_THREADS];
};

void run_clock_deinit(struct run_clock *clock);

/* Returns whether the thread has not run since its sample. */
bool run_clock_proves(struct run_clock *clock, const struct sampled_thread *thread);
/* Learns from a sample whose thread has not run since, by another proof. */
void run_clock_learn(struct run_clock *clock, const struct sampled_thread *thread);

#endif
