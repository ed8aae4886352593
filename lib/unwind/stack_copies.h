/*
 * The copies of a thread's stacks from the time of a sample. All pointers are
 * borrowed.
 *
 * A thread usually has one stack. If a signal handler runs on an alternate
 * stack (sigaltstack(2)), the interrupted stack is needed, too. A thread of a
 * Go program has two stacks (go_code.h).
 */
#ifndef PROF_UNWIND_STACK_COPIES_H
#define PROF_UNWIND_STACK_COPIES_H

#include "base/bytes.h"
#include "base/go_sched.h"

struct stack_copies {
	struct bytes own; /* from the stack pointer upwards */
	/*
	 * The interrupted stack, or in Go the stack that the thread does not
	 * run on. Empty if there is none or it was not copied.
	 */
	struct bytes interrupted;
	/* Its address, at or above the interrupted stack pointer. */
	uint64_t interrupted_start;
	struct go_sched go;
};

#endif
