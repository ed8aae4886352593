/*
 * Samples that hit the idle task of a CPU (process 0).
 *
 * A clock, or a counter of the hardware, goes on while nothing runs: those samples are of the idle
 * loop and are left out, and counted. What an interrupt does meanwhile is work, and is kept, as is
 * every sample that is an occurrence, such as that of a tracepoint.
 *
 * Interrupts are told apart by the call chain, with the kernel's symbols, which are read at the
 * first sample that needs them. Without symbols, no sample of a clock is known to be of work.
 */
#ifndef PROF_RECORD_IDLE_TASK_H
#define PROF_RECORD_IDLE_TASK_H

#include "perf/record.h"
#include "record/interrupt_code.h"

/* Zeroed: no symbols are known. */
struct idle_task {
	const char *kallsyms; /* "/proc/kallsyms"; borrowed; NULL: the kernel is another one */
	struct interrupt_code *code; /* private, as all below */
	bool was_read;
};

void idle_task_deinit(struct idle_task *idle);

/* Whether a sample of a clock or a counter, which hit the idle task, is of an interrupt. */
bool idle_task_works(struct idle_task *idle, const struct record_sample *sample);

#endif
