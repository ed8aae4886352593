/*
 * Samples that hit the idle task of a CPU (process 0).
 *
 * A clock, or a counter of the hardware, goes on while nothing runs. Its samples of the idle loop
 * are omitted and counted, and those of interrupts are kept. The session keeps every sample that is
 * an occurrence, such as that of a tracepoint, without asking here.
 *
 * The call chain and the kernel's symbols show whether a sample is of an interrupt. The symbols are
 * read at the first sample that needs them. Without them, every sample counts as the idle loop's.
 */
#ifndef PROF_RECORD_IDLE_TASK_H
#define PROF_RECORD_IDLE_TASK_H

#include "perf/record.h"
#include "record/interrupt_code.h"

/* Zeroed: no symbols are known. */
struct idle_task {
	const char *kallsyms; /* "/proc/kallsyms"; borrowed; NULL: the kernel is another one */
	struct interrupt_code *code; /* private; NULL: not read yet */
};

void idle_task_deinit(struct idle_task *idle);

/* Whether a sample of a clock or a counter, which hit the idle task, is of an interrupt. */
bool idle_task_works(struct idle_task *idle, const struct record_sample *sample);

#endif
