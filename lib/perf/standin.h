/*
 * Stand-ins: threads of ours, one bound to each CPU, that copy of a sampled thread's stack what its
 * sample could not hold.
 *
 * A sample in a ring wakes the stand-in of its CPU; the kernel gives it that CPU in the place of
 * the sampled thread, as a rule before this returns from the interrupt that sampled it. So the
 * thread stands where it was sampled while its stack is read. That is no hope, it is looked at:
 *
 *  - the stand-in was on the CPU within moments of the sample. In real time, which takes
 *    CAP_SYS_NICE, it comes before the sampled thread is in user space again; else the scheduler
 *    may let that go on for a slice, and what is read then is thrown away;
 *  - it stayed there until all was read, and the sampled thread is then still ready to run in the
 *    queue of the same CPU: so it did not run elsewhere either;
 *  - or, instead of this, it was sampled in the kernel and waits there, having entered it where the
 *    sample says;
 *  - the outermost KiB of what the kernel copied with the sample still reads the same.
 *
 * What fails one of these is not given out. A stand-in takes no more than half of its CPU.
 */
#ifndef PROF_PERF_STANDIN_H
#define PROF_PERF_STANDIN_H

#include "base/cleanup.h"
#include "perf/record.h"
#include "perf/ring.h"
#include "perf/sampler.h"

enum {
	/* Within so long a stand-in has read what it will read of a sample. */
	STANDIN_SETTLED_NS = 2000000,
};

struct standins;

/*
 * rings: one a CPU; each of their samples must wake (ring.h). All is borrowed. Where no thread can
 * be bound to a CPU, it has no stand-in. is_patient: they leave CPUs to whoever wants them, and
 * copy the stacks of threads that wait. NULL: the system has nothing left for us.
 */
struct standins *standins_new(const struct ring *rings, const unsigned *cpus, size_t count,
			      const struct record_layout *layout,
			      const struct sampler_options *options, bool is_patient);
void standins_free(struct standins *standins);
DEFINE_CLEANUP(standins, standins_free)

/*
 * For the reader of rings[cpu], whose samples come in order: lengthens the stack of a sample, if
 * its stand-in has more of it; borrowed until the next call.
 */
void standins_complete(struct standins *standins, size_t cpu, struct record *sample);

/*
 * For the reader, too, after each sample: the next ones of that thread are copied up to there. Of a
 * thread that wanders from stack to stack, as those of Go do, nothing is copied until one of them
 * is deep.
 */
void standins_expect(struct standins *standins, pid_t tid, struct stack_extent extent);

#endif
