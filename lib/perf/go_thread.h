/*
 * Reads the state of a stopped or sampled Go thread that runs on its system
 * stack: where it left the stack of its goroutine. Supports Go 1.18 to 1.26 on
 * x86-64.
 */
#ifndef PROF_PERF_GO_THREAD_H
#define PROF_PERF_GO_THREAD_H

#include "base/go_sched.h"
#include "perf/options.h"

/*
 * g is any goroutine of the thread, including that of its system stack (g0).
 * Sets ret->sp to 0 if g is not a goroutine, or if the stack pointer sp is on
 * the goroutine's own stack. The memory is untrusted: the pointers from g to m
 * and back must agree.
 */
void go_thread_read(memory_reader *read, pid_t tid, uint64_t g, uint64_t sp, struct go_sched *ret);

#endif
