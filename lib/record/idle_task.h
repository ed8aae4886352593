/*
 * Classifies samples that hit the idle task of a CPU (process 0).
 *
 * Clocks and hardware counters continue while a CPU is idle. Samples of the
 * idle loop are omitted and counted; samples of interrupts are kept. This
 * applies only to clocks and counters. The session keeps every sample that is
 * an occurrence, such as that of a tracepoint.
 *
 * The call chain and the kernel's symbols show whether a sample belongs to an
 * interrupt. Symbols are read at the first sample that needs them. Without
 * symbols, every sample counts as idle.
 */
#ifndef PROF_RECORD_IDLE_TASK_H
#define PROF_RECORD_IDLE_TASK_H

#include "perf/record.h"
#include "record/interrupt_code.h"

/* Without symbols if zeroed. */
struct idle_task {
	const char *kallsyms; /* "/proc/kallsyms"; borrowed; NULL if the samples are of another
				 kernel */
	struct interrupt_code *code; /* private; NULL until it is read */
};

void idle_task_deinit(struct idle_task *idle);

/* Whether a sample of a clock or counter in the idle task belongs to an
 * interrupt. */
bool idle_task_works(struct idle_task *idle, const struct record_sample *sample);

#endif
