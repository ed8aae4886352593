/*
 * A thread of a Go program, as it stands: where it left the stack of its goroutine for the system
 * stack on which it runs. For Go 1.18 to 1.26 on x86-64.
 */
#ifndef PROF_PERF_GO_THREAD_H
#define PROF_PERF_GO_THREAD_H

#include "base/go_sched.h"
#include "perf/options.h"

/*
 * g: any goroutine of the thread, also the one of its system stack (g0). ret->sp is 0 if it is
 * none, or if the thread, with this stack pointer, runs on its goroutine's stack. Nothing that is
 * read is believed: what leads to m and back must agree.
 */
void go_thread_read(memory_reader *read, pid_t tid, uint64_t g, uint64_t sp, struct go_sched *ret);

#endif
