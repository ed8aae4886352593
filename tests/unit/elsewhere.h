/* Measures how the clocks of events and of processes differ. */
#ifndef PROF_TESTS_UNIT_ELSEWHERE_H
#define PROF_TESTS_UNIT_ELSEWHERE_H

#include "base/cleanup.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static inline uint64_t tick_ns(void)
{
	return NS_PER_SECOND / (uint64_t)sysconf(_SC_CLK_TCK);
}

/*
 * Returns how long CPUs of this machine were in interrupts, or ran another
 * guest of their hypervisor, in whole ticks. During this time, the clock of an
 * event runs without samples, and the clock of a process stands still.
 */
static inline uint64_t elsewhere_ns(void)
{
	CLEANUP(close_file) FILE *file = fopen("/proc/stat", "re");
	uint64_t irq, softirq, stolen;

	if (!file || fscanf(file, "cpu %*u %*u %*u %*u %*u %" SCNu64 "%" SCNu64 "%" SCNu64, &irq,
			    &softirq, &stolen) != 3)
		return 0;
	return (irq + softirq + stolen) * tick_ns();
}

/* Returns how long this can have been since elsewhere_ns() at most. The kernel
 * rounds down. */
static inline uint64_t elsewhere_since_ns(uint64_t before_ns)
{
	return elsewhere_ns() - before_ns + tick_ns();
}

#endif
