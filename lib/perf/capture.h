/*
 * Deep-stack capture, for what the kernel cannot copy with a sample (stack_program.h): one helper
 * thread per CPU, the copier, copies the part of a sampled thread's stack that did not fit into the
 * sample.
 *
 * Of a thread whose signal handlers run on a stack of their own (sigaltstack), it copies the stack
 * that the handler has interrupted, too, and of a thread that runs C or the runtime of a Go program
 * the stack of its goroutine (go_thread.h).
 *
 * Each sample in a capture ring wakes the copier of its CPU. The kernel gives it the CPU in place
 * of the sampled thread, usually before the interrupt that took the sample returns. So the stack is
 * read while the thread stands where it was sampled. This is verified, not assumed:
 *
 *  - the thread has stood still since the sample (standstill.h). With CAP_SYS_NICE copiers run at
 *    real-time priority, so before the thread can return to user space; else the scheduler may let
 *    it run on, and what was copied is thrown away;
 *  - the outermost KiB of the kernel's own copy of the stack is unchanged.
 *
 * A copier uses at most half of its CPU.
 *
 * Reading the stack can hang if its owner wants that (foreign_read.h). After a second the copier is
 * left behind and replaced, up to 16 times in all, and nothing more is copied of that process, nor
 * of any of its user unless that is root or prof's; at the end it is left behind after a tenth of a
 * second.
 */
#ifndef PROF_PERF_CAPTURE_H
#define PROF_PERF_CAPTURE_H

#include "base/cleanup.h"
#include "perf/layouts.h"
#include "perf/options.h"
#include "perf/process_tree.h"
#include "perf/record.h"
#include "perf/ring.h"

enum {
	/* A copier has finished with a sample, or dropped it, when the sample is this old. */
	CAPTURE_SETTLED_NS = 2000000,
};

struct capture;

/*
 * rings: one per CPU; each of their samples must wake (ring.h). All arguments are borrowed. A CPU
 * to which no thread can be bound has no copier. tree: stacks of processes that it knows as
 * strangers are not copied; NULL: there is no such tree. idle_priority: copiers run only where
 * nothing else wants to, and so copy stacks of waiting threads only. NULL: the system lacks the
 * resources.
 */
struct capture *capture_new(const struct ring *rings, const unsigned *cpus, size_t count,
			    const struct layouts *layouts, const struct sampler_options *options,
			    const struct process_tree *tree, bool idle_priority);
void capture_free(struct capture *capture);
DEFINE_CLEANUP(capture, capture_free)

/*
 * Lengthens the stack of a sample of rings[cpu] if its copier has captured more of it; the stack is
 * borrowed until the next call. For the reader of the ring, for all samples in order.
 */
void capture_complete(struct capture *capture, size_t cpu, struct record *sample);

/* Whether copiers copy of the thread what the kernel never does: the stack of its goroutine. */
bool capture_is_needed(const struct capture *capture, pid_t tid);

/*
 * For the reader: the CPU time that the copier of rings[cpu] has lately taken per sample. It comes
 * right after samples, so none is ever taken of it.
 */
uint64_t capture_cost_ns(const struct capture *capture, size_t cpu);

/*
 * For the reader, after each sample: how large the stack was, so that the next ones of that thread
 * are copied up to its end. Of a thread that switches stacks, as those of Go do, nothing is copied
 * until a stack is deep.
 */
void capture_note_stack(struct capture *capture, pid_t tid, struct stack_extent extent);

#endif
