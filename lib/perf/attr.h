/*
 * Builds the perf_event_attr for the four kinds of descriptor that a recording
 * opens, and wraps perf_event_open(2).
 *
 * Every descriptor sets sample_id_all, so every record ends with the same
 * trailer (thread, time, CPU, id). All times are CLOCK_MONOTONIC (Linux 4.1)
 * and can be compared across descriptors and with clock_now_ns().
 * Source: perf_event_open(2).
 */
#ifndef PROF_PERF_ATTR_H
#define PROF_PERF_ATTR_H

#include "base/error.h"
#include "perf/event.h"
#include "perf/record.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Optional kernel features. */
struct attr_features {
	bool lost;	    /* PERF_FORMAT_LOST: Linux 6.0 */
	bool reads_times;   /* PERF_SAMPLE_READ of inherited events: Linux 6.12 */
	bool defers_chains; /* defer_callchain and defer_output: Linux 6.19 */
};

/* Detects the features by opening events on prof itself. Fails only if no event
 * at all can be opened. */
MUST_CHECK struct error *attr_probe(struct attr_features *ret);

/*
 * Initializes a descriptor that owns a ring and counts nothing. It is opened on
 * prof itself, so that it outlives every thread of the target: the ring of a
 * thread that has exited polls as hung up forever. The kernel wakes the reader
 * every watermark_bytes.
 */
void attr_ring_owner(struct perf_event_attr *attr, uint32_t watermark_bytes);

/* Initializes a descriptor that writes the side band. It is enabled from the
 * start, because a disabled descriptor writes no side band. */
void attr_side_band(struct perf_event_attr *attr, bool inherit);

/* Initializes a disabled descriptor that writes a RECORD_SWITCH at each context
 * switch. */
void attr_switches(struct perf_event_attr *attr, bool inherit,
		   const struct attr_features *features);

/* Initializes a descriptor that a BPF program writes to. Each record wakes its
 * reader. */
void attr_wake(struct perf_event_attr *attr);

/* Initializes a descriptor that counts nothing, but whose time runs while its
 * thread runs. Reading it returns a count, then the time. */
void attr_run_clock(struct perf_event_attr *attr);

/* Makes a descriptor of another kind write the side band as well. It writes
 * neither while it is disabled. */
void attr_add_side_band(struct perf_event_attr *attr);

/* Initializes a disabled descriptor that samples the event. */
void attr_samples(struct perf_event_attr *attr, const struct event *event,
		  const struct attr_features *features);

/* Sets the type and config of one variant of the event, numbered from 0.
 * Borrows the name of a probe's place from the event. */
void attr_choose_variant(struct perf_event_attr *attr, const struct event *event, size_t variant);

/*
 * Drops one requirement that the kernel may not support, after
 * perf_event_open(2) failed with errno `number`: a level of precision, if
 * may_be_less_precise is set, or the PMU type in the config of a generic event
 * (Linux 5.13; on arm64, which otherwise selects the PMU of the CPU itself,
 * Linux 6.6). Returns false if nothing is left to drop.
 */
bool attr_relax(struct perf_event_attr *attr, bool may_be_less_precise, int number);

/* Returns whether prof may sample every process on the CPU. */
bool attr_may_sample_cpu(unsigned cpu);

/* Returns whether prof may sample the processes of the cgroup on the CPU.
 * cgroup: a descriptor of its directory. */
bool attr_may_sample_cgroup(int cgroup, unsigned cpu);

/* Makes the descriptor count without sampling. */
void attr_counts_only(struct perf_event_attr *attr);

/* Excludes the idle task, if the kernel supports that for this event. */
void attr_exclude_idle(struct perf_event_attr *attr);

/* Returns the record layout of an event that is opened with these
 * attributes. */
struct record_layout attr_layout(const struct perf_event_attr *attr);

/* Excludes kernel samples and the kernel part of call chains. */
void attr_exclude_kernel(struct perf_event_attr *attr);

/* Calls perf_event_open(2). Returns a descriptor or a negative errno. pid is 0
 * for prof itself, -1 for all processes; cpu is -1 for all CPUs. */
int attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);
/* Like attr_open(), in the group of leader_fd; -1 for no group. */
int attr_open_in_group(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd);
/* Like attr_open_in_group(), for the tasks of a cgroup on one CPU. cgroup: a
 * descriptor of its directory. */
int attr_open_cgroup(const struct perf_event_attr *attr, int cgroup, int cpu, int leader_fd);

#endif
