/*
 * Samples a target through perf_event_open(2): opens the events and gives out the records, ordered
 * by time.
 *
 * Every CPU has a ring for samples and a small one for the side band (mmap, comm, fork, exit), so
 * that a burst of samples cannot lose a mapping, and one for context switches if they are asked for
 * (options.waits; ring_set.h). There may be no events at all: then nothing is sampled. Records are
 * read in batches.
 * sampler_batch() notes how far the rings are filled, sample rings first; sampler_next() then
 * returns the records up to there. A mapping is in the same batch as the first sample of its code,
 * or in an earlier one, because the mmap call had returned before the code ran.
 *
 * Deep stacks: where that is possible, the kernel copies them with the sample (stack_program.h).
 * Else there is deep-stack capture: a second sample ring per CPU wakes a copier for every sample
 * (capture.h). It is used only while the caller asks for it.
 *
 * A thread that started while we attached is sampled once, and each of its context switches is one
 * record (late_threads.h), but its side-band records may come twice, one directly after the other.
 *
 * A command's process tree can be sampled by whole CPUs (target.prefers_cpus), probes of commands
 * and processes are, and commands can follow later (target.commands_later); records of other
 * processes are then dropped before they are
 * given out (process_tree.h). Of samples that were lost, the tree's part is estimated.
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

/* What was opened, as far as the request left it open. */
struct sampler_facts {
	bool kernel_excluded; /* only user space is sampled: we have no right to sample the kernel
			       */
	size_t ring_bytes;    /* per CPU */
	bool ring_shrunk;     /* locked memory does not suffice for the rings that were wanted */
	size_t copies_bytes;  /* of a stack, as that many fit into a ring; 0: as large as asked for
			       */
	size_t descriptors;
	size_t denied_threads; /* of processes that were found, not asked for by number */
	/* For lack of descriptors the side band begins with sampling, and shares the rings of
	 * switches or samples (descriptors.h). */
	bool is_joint;
	bool has_switches;	  /* options.switches could be granted */
	size_t switch_ring_bytes; /* per CPU, of those of options.waits */
	bool is_tree; /* target.prefers_cpus could be granted, target.rule has names, or there are
			 probes: whole CPUs are sampled */
	/* target.rule is followed by the kernel's records: whole CPUs, or the cgroup on them, are
	 * sampled. */
	bool follows_rule;
	bool is_filtered; /* samples of processes outside the tree are dropped by the kernel: of
			     clocks */
	unsigned cpus;
	int capture_poll_ms;	     /* while deep stacks are captured, read the rings this often */
	bool is_polled;		     /* read the rings more often than they are full (ring_set.h) */
	int holds_ms;		     /* a ring holds the samples of this time; 0: unknown */
	uint64_t samples_per_second; /* on one CPU; 0: unknown */
};

struct sampler;

/*
 * Opens the events on the target, disabled; `events` are borrowed. Each must have a period or a
 * frequency. There may be none if options->waits is set.
 *
 * If the kernel may not be sampled, user space alone is. RLIMIT_NOFILE is raised as far as needed
 * and allowed. A refusal of the kernel becomes an error whose hint says what to do (refusal.h).
 * error_number() is ESRCH if the target does not exist.
 */
MUST_CHECK struct error *sampler_open(const struct event *events, size_t event_count,
				      const struct target *target,
				      const struct sampler_options *options, struct sampler **ret);
void sampler_free(struct sampler *sampler);
DEFINE_CLEANUP(sampler, sampler_free)

const struct sampler_facts *sampler_facts(const struct sampler *sampler);

/* The CPUs that are sampled but lack the counter of an event, as text ("4-7"); NULL: none. */
const char *sampler_lacking_cpus(const struct sampler *sampler, unsigned event);

/* For a file of the records: what was opened, one for each variant of each event. */
const struct opened_event *sampler_opened(const struct sampler *sampler, size_t *count);

/*
 * Starts sampling, before a TARGET_COMMAND is released: it is sampled from its exec on, unless
 * starts_late is set. The side band is recorded from sampler_open() on. To be called by the thread
 * that reads: it gets short slices (sched_attributes.h).
 */
MUST_CHECK struct error *sampler_enable(struct sampler *sampler);
/*
 * Of a target with commands_later: a descendant of ids[0] will execute a command, which is sampled
 * with its descendants from the exec on. To be called, and sampling to be enabled or paused, before
 * that exec.
 */
void sampler_add_command(struct sampler *sampler, pid_t pid);
/*
 * Of a target with a rule: a process that it applies to and that is not sampled yet. Processes that
 * have ended or may not be sampled are skipped. False: not possible right now; call it again later.
 */
MUST_CHECK bool sampler_add_process(struct sampler *sampler, pid_t pid);
/*
 * Samples nothing until the next sampler_enable(), which then needs no exec. The side band (unless
 * facts.is_joint is set) and the switches of options.waits are still recorded. Before the first
 * sampler_enable() it begins the latter; starts_late must be set then.
 */
void sampler_pause(struct sampler *sampler);
/* Stops sampling. The records in the rings can still be read. */
void sampler_disable(struct sampler *sampler);

/* A descriptor owned by the sampler, readable when a ring is worth reading. Samples do not make it
 * readable while deep stacks are captured: read every capture_poll_ms then. */
int sampler_fd(const struct sampler *sampler);

/*
 * Turns deep-stack capture on or off; without effect if it is impossible. Capture costs the sampled
 * thread a context switch per sample, and records are given out 2 ms later. The change takes a
 * while (output_redirect.h); a call before it is complete has no effect and has to be repeated.
 */
void sampler_capture_deep(struct sampler *sampler, bool capture);
/* Whether some samples at least are captured. */
bool sampler_captures_deep(const struct sampler *sampler);
/* While deep stacks are copied: read the rings this often; 0: no stack is. */
int sampler_poll_ms(const struct sampler *sampler);
/* Says how large the stack of a sample was, for all samples in order: see capture_note_stack().
 * True: capture would help, or does. */
bool sampler_note_stack(struct sampler *sampler, const struct record *sample,
			struct stack_extent extent);

/* Ends the records of context switches, unless options.waits is set. */
void sampler_end_switches(struct sampler *sampler);

/*
 * What the kernel has counted of an event so far, in all threads that were sampled, whether they
 * live or have ended: the sum that the periods of all samples would have if none were missing. For
 * a clock it is the CPU time, that in the kernel included, even if the kernel is not sampled.
 * False: unknown.
 */
bool sampler_counted(const struct sampler *sampler, unsigned event, uint64_t *ret);

/* Begins a batch. Its records, and those of later batches, are at most one second older than this
 * call. Within a batch they are in order of their times; with options.waits or keeps_order over all
 * batches. */
void sampler_batch(struct sampler *sampler);
/*
 * When all records of the last batch were given out, those older than this (clock_now_ns()) were,
 * and with options.waits only those: 5 us before sampler_batch(), 2 ms before it while deep stacks
 * are captured or facts.is_joint is set.
 *
 * A record that the kernel was writing at that time may still come later, if a hypervisor or an
 * interrupt stopped its CPU meanwhile. But a thread runs on in user space only after the record of
 * its getting a CPU was written: that of whatever a thread did before this time was given out.
 */
uint64_t sampler_complete_ns(const struct sampler *sampler);
/* How full the last batch found the fullest ring of the side band: percent. */
unsigned sampler_side_band_percent(const struct sampler *sampler);
/* False at the end of the batch. The record is borrowed until the next call. */
bool sampler_next(struct sampler *sampler, struct record *ret);
/*
 * As ring_merge_keep() and ring_merge_end_keeping(), of records that record_stays() is true of. The
 * kernel has less room meanwhile.
 */
void sampler_keep(struct sampler *sampler);
void sampler_end_keeping(struct sampler *sampler);

/* The sampler as a source of records, which owns it. */
struct record_source sampler_source(struct sampler *sampler);

#endif
