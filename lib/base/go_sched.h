/*
 * Where a thread of a Go program left the stack of its goroutine when it
 * switched to its system stack: g.sched. Source: gobuf in runtime/runtime2.go
 * of Go.
 */
#ifndef PROF_BASE_GO_SCHED_H
#define PROF_BASE_GO_SCHED_H

#include <stdint.h>

/* sp is 0 if it is unknown. fp is the frame pointer. */
struct go_sched {
	uint64_t sp, pc, fp;
};

#endif
