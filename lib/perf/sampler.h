/*
 * Samples a target through perf_event_open(2): opens the events and returns the
 * records in time order.
 *
 * Every CPU has a ring for samples and a small one for the side band (mmap,
 * comm, fork, exit), so that a burst of samples cannot lose a mapping. If
 * options.waits is set, a third ring holds context switches (ring_set.h). The
 * list of events may then be empty, and nothing is sampled.
 *
 * Records are read in batches. sampler_batch() reads the heads of the rings,
 * sample rings first. sampler_next() returns the records up to these heads. The
 * record of a mapping is never in a later batch than the samples of its code,
 * because mmap() returned before the code ran.
 *
 * Deep stacks: if possible, the kernel copies them with the sample
 * (stack_program.h). Otherwise the caller can turn on deep-stack capture: a
 * second sample ring per CPU wakes a copier for every sample (capture.h).
 *
 * If a thread started while prof attached, its samples and context switches are
 * still returned once (late_threads.h). Its side-band records can be returned
 * twice, one directly after the other.
 *
 * Whole CPUs are sampled for probes, for rules with names, and for a command's
 * process tree with target.prefers_cpus (sampling_plan.h). The sampler then
 * drops the records of processes outside the target (process_tree.h), and
 * estimates how many of the lost samples belong to the target. It also drops
 * such records with target.commands_later.
 *
 * The target is never stopped. Every wait is on a file descriptor.
 */
#ifndef PROF_PERF_SAMPLER_H
#define PROF_PERF_SAMPLER_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/opened_event.h"
#include "perf/options.h"
#include "perf/record.h"
#include "perf/record_source.h"

/* Properties of the recording that the sampler has chosen or found. */
struct sampler_facts {
	/* Only user space is sampled, because prof may not sample the
	 * kernel. */
	bool kernel_excluded;
	size_t ring_bytes; /* size per CPU */
	/* The rings are smaller than requested, because of the limit on locked
	 * memory. */
	bool ring_shrunk;
	/* Size to which stack copies were reduced, so that enough of them fit
	 * into a ring; 0 if they were not. */
	size_t copies_bytes;
	size_t descriptors;
	/* Number of skipped threads: threads that may not be sampled, of
	 * processes that prof found itself. If a process was requested by pid,
	 * such a thread is an error instead. */
	size_t denied_threads;
	/* The descriptor limit is too low for side-band events. The side band
	 * starts with sampling, and shares the rings of switches or samples
	 * (descriptors.h). */
	bool is_joint;
	bool can_capture;	  /* copiers can complete samples (capture.h) */
	bool has_switches;	  /* options.switches is in effect */
	size_t switch_ring_bytes; /* size per CPU of the rings of options.waits */
	/* Whole CPUs are sampled: target.prefers_cpus is in effect, target.rule
	 * has names, or there are probes. */
	bool is_tree;
	/* Whole CPUs, or the cgroups on them, are sampled. The sampler then
	 * applies target.rule to the records, and no new process is missed. */
	bool follows_rule;
	/* The kernel drops samples of processes outside the tree. Applies to
	 * clocks. */
	bool is_filtered;
	unsigned cpus;
	/* Poll interval while deep stacks are captured. */
	int capture_poll_ms;
	/* Poll the rings by time, not only when they are full (ring_set.h). */
	bool is_polled;
	/* Time after which an empty ring is full of samples; 0 if unknown. */
	int holds_ms;
	uint64_t samples_per_second; /* rate on one CPU, or 0 if unknown */
};

struct sampler;

/*
 * Opens the events on the target, disabled. Borrows `events`, each of which
 * must have a period or a frequency. event_count may be 0 if options->waits is
 * set.
 *
 * If the kernel may not be sampled, only user space is. RLIMIT_NOFILE is raised
 * as far as needed and allowed. If the kernel refuses an event, the error has a
 * hint with the fix (refusal.h). error_number() is ESRCH if the target does not
 * exist.
 */
MUST_CHECK struct error *sampler_open(const struct event *events, size_t event_count,
				      const struct target *target,
				      const struct sampler_options *options, struct sampler **ret);
void sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(sampler, sampler_free)

const struct sampler_facts *sampler_facts(const struct sampler *sampler);

/* Returns the sampled CPUs that lack the counter of an event, as text ("4-7"),
 * or NULL if none does. */
const char *sampler_lacking_cpus(const struct sampler *sampler, unsigned event);

/* Returns the opened events, one for each variant of each event, as the header
 * of a perf.data file lists them. */
const struct opened_event *sampler_opened(const struct sampler *sampler, size_t *count);

/*
 * Starts sampling. Call it before a TARGET_COMMAND is released: the command is
 * sampled from its exec on, unless starts_late is set. The side band is
 * recorded from sampler_open() on. Must be called by the reader thread, which
 * gets short time slices (sched_attributes.h).
 */
MUST_CHECK struct error *sampler_enable(struct sampler *sampler);
/*
 * For a target with commands_later: samples process `pid`, a descendant of
 * ids[0], and its descendants from its next exec on. Must be called before that
 * exec, with sampling already enabled or paused.
 */
void sampler_add_command(struct sampler *sampler, pid_t pid);
/*
 * For a target with a rule: adds a process to which the rule applies and that
 * is not sampled yet. Skips processes that have exited or may not be sampled.
 * Returns false if this is not possible right now; try again later.
 */
MUST_CHECK bool sampler_add_process(struct sampler *sampler, pid_t pid);
/*
 * Pauses sampling until the next sampler_enable(), which then does not wait for
 * an exec. The switches of options.waits are still recorded, and so is the side
 * band unless facts.is_joint is set. If it is called before the first
 * sampler_enable(), it starts recording these switches; starts_late must be set
 * in this case.
 */
void sampler_pause(struct sampler *sampler);
/* Stops sampling. The records in the rings can still be read. */
void sampler_disable(struct sampler *sampler);

/* Returns a descriptor that is readable when a ring has enough records. The
 * sampler owns it. While deep stacks are captured, samples do not make it
 * readable; read them every capture_poll_ms. */
int sampler_fd(const struct sampler *sampler);

/*
 * Turns deep-stack capture on or off; has no effect if it is impossible.
 * is_fast: the rate is too high to wake a copier for each sample.
 * Capture costs the sampled thread a context switch per sample, and delays
 * records by 2 ms. With a stack program, only threads whose stacks need it pay
 * (copier_wakes.h). Otherwise the change is asynchronous (output_redirect.h). A
 * call before it is complete has no effect and must be repeated.
 */
void sampler_capture_deep(struct sampler *sampler, bool wanted, bool is_fast);
/* Returns whether at least some samples are captured. */
bool sampler_captures_deep(const struct sampler *sampler);
/* Returns the current poll interval if deep stacks are copied, else 0. */
int sampler_poll_ms(const struct sampler *sampler);
/* Records the extent of a sample's stack; call it for all samples in order (see
 * capture_note_stack()). Returns whether capture helps or would help. */
bool sampler_note_stack(struct sampler *sampler, const struct record *sample,
			struct stack_extent extent);

/* Stops the records of context switches, unless options.waits is set. */
void sampler_end_switches(struct sampler *sampler);

/*
 * Returns the kernel's count of an event so far, summed over all sampled
 * threads, including exited ones. If no sample were missing, the periods of all
 * samples would have this sum. For a clock it is the CPU time, including time
 * in the kernel even if that is not sampled. Returns false if it is unknown.
 */
bool sampler_counted(const struct sampler *sampler, unsigned event, uint64_t *ret);

/* Starts a batch. Its records, and those of later batches, are at most one
 * second older than this call. Records are in time order within a batch, and
 * with options.waits or keeps_order across batches. */
void sampler_batch(struct sampler *sampler);
/*
 * Returns the time (clock_now_ns()) up to which the last batch is complete:
 * when it has been read to its end, all records up to this time have been
 * returned. With options.waits, no later record has been returned. The time is
 * 5 us before the call of sampler_batch(), or 2 ms before it while deep stacks
 * are captured or if facts.is_joint is set.
 *
 * There is one exception: if a hypervisor or an interrupt stopped a CPU while
 * the kernel wrote a record there, the record can be returned later. But a
 * thread returns to user space only after the kernel has written the record of
 * its switch to the CPU. So for everything that a thread did before this time,
 * the switch records have been returned.
 */
uint64_t sampler_complete_ns(const struct sampler *sampler);
/* Returns the fill level of the fullest side-band ring at the last batch, in
 * percent. */
unsigned sampler_side_band_percent(const struct sampler *sampler);
/* Returns false at the end of the batch. The record is borrowed until the next
 * call. */
bool sampler_next(struct sampler *sampler, struct record *ret);

/* Wraps the sampler in a record source, which owns it. */
struct record_source sampler_source(struct sampler *sampler);

#endif
