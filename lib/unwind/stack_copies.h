/*
 * What was copied of a thread's stacks when it was sampled; borrowed.
 *
 * A thread has one stack, but while a signal handler runs on a stack of its own (sigaltstack(2)) it
 * needs the one that was interrupted, too.
 */
#ifndef PROF_UNWIND_STACK_COPIES_H
#define PROF_UNWIND_STACK_COPIES_H

#include "base/bytes.h"

struct stack_copies {
	struct bytes own;	    /* from the stack pointer upwards */
	struct bytes interrupted;   /* empty: there is none, or it was not copied */
	uint64_t interrupted_start; /* its address: at or above the interrupted stack pointer */
};

#endif
