/*
 * What was copied of a thread's stacks when it was sampled; borrowed.
 *
 * A thread has one stack, but while a signal handler runs on a stack of its own (sigaltstack(2)) it
 * needs the one that was interrupted, too. A thread of a Go program has two (go_code.h).
 */
#ifndef PROF_UNWIND_STACK_COPIES_H
#define PROF_UNWIND_STACK_COPIES_H

#include "base/bytes.h"
#include "base/go_sched.h"

struct stack_copies {
	struct bytes own; /* from the stack pointer upwards */
	/* Empty: there is none, or it was not copied. In Go, the stack that it does not run on. */
	struct bytes interrupted;
	uint64_t interrupted_start; /* its address: at or above the interrupted stack pointer */
	struct go_sched go;
};

#endif
