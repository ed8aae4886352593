/*
 * Deep-stack capture: copies the part of a sampled thread's stack that did not
 * fit into the sample. It is used where the kernel cannot copy deep stacks
 * itself (stack_program.h). Each CPU has a helper thread, the copier.
 *
 * If a signal handler runs on an alternate stack (sigaltstack), the copier also
 * copies the interrupted stack. If the thread runs C or the runtime of a Go
 * program, it also copies the stack of the goroutine (go_thread.h). If it runs
 * an interpreter, the copier also reads the interpreter's frames
 * (runtime/script_walker.h).
 *
 * Each sample in a capture ring wakes the copier of its CPU, or each sample that
 * copier_wakes.h chooses. The kernel preempts the sampled thread in favour of the copier, usually
 * before the sampling interrupt returns, so the stack is read while the thread is still where it
 * was sampled. The copier verifies this:
 *
 *  - The thread has not run since the sample (standstill.h). With CAP_SYS_NICE
 *    copiers have a real-time priority and run before the thread can return to
 *    user space. Without it the scheduler may let the thread run first; the
 *    copy is then discarded.
 *  - The outermost KiB of the kernel's own copy of the stack is unchanged.
 *
 * A copier uses at most half of its CPU.
 *
 * The owner of a stack can make reads of it hang (untrusted_read.h). A copier
 * that hangs for a second is abandoned and replaced, at most 16 times. No stack
 * of that process is copied any more, nor of its user unless that is root or
 * prof's user. capture_free() waits only a tenth of a second for a hanging
 * copier.
 */
#ifndef PROF_PERF_CAPTURE_H
#define PROF_PERF_CAPTURE_H

#include "base/cleanup.h"
#include "perf/copier_wakes.h"
#include "perf/layouts.h"
#include "perf/options.h"
#include "perf/process_tree.h"
#include "perf/record.h"
#include "perf/ring.h"

enum {
	/* On an idle machine, a copier has finished or dropped every sample that
	 * is older than the first; on a busy one, most that are older than the
	 * second. */
	CAPTURE_SETTLED_NS = 2000000,
	CAPTURE_SETTLED_MAX_NS = 20000000,
};

struct capture;

/*
 * Starts the copiers. Returns NULL if the system lacks the resources. All
 * arguments are borrowed.
 *
 *  - rings: one per CPU. A CPU to which no thread can be bound has no copier.
 *  - wakes: chooses the samples that wake a copier. If it is NULL, every sample
 *    in the rings must wake the reader (ring.h).
 *  - tree: stacks of processes that it knows to be outside the target are not
 *    copied; may be NULL.
 *  - idle_priority: copiers run only on idle CPUs, and so copy stacks of
 *    waiting threads only.
 */
struct capture *capture_new(const struct ring *rings, const struct copier_wakes *wakes,
			    const unsigned *cpus, size_t count, const struct layouts *layouts,
			    const struct sampler_options *options, const struct process_tree *tree,
			    bool idle_priority);
void capture_free(struct capture *capture);
DEFINE_CLEANUP(capture, capture_free)

/*
 * Lengthens the stack of a sample of rings[cpu] if its copier has captured more
 * of it. The stack is borrowed until the next call. Called by the reader of the
 * ring for all samples in order.
 */
void capture_complete(struct capture *capture, size_t cpu, struct record *sample);

/* Returns whether the sample needs the stack of a goroutine or the frames of an
 * interpreter, which only copiers can copy. */
bool capture_is_needed(const struct capture *capture, const struct record *sample);

/*
 * Returns the recent CPU time of the copier of rings[cpu] per sample. No sample
 * ever hits a copier, because it runs right after samples. Called by the
 * reader.
 */
uint64_t capture_cost_ns(const struct capture *capture, size_t cpu);

/*
 * Records the extent of the stack after each sample, so that later samples of
 * the thread are copied up to its end. If a thread switches stacks, as Go
 * threads do, nothing is copied until a stack is deep. Called by the reader.
 */
void capture_note_stack(struct capture *capture, pid_t tid, struct stack_extent extent);

#endif
