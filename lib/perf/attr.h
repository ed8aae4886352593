/*
 * perf_event_attr for the four kinds of descriptor that a recording opens, and the system call.
 *
 * Every record ends with the trailer of sample_id_all, the same for all descriptors (thread, time,
 * CPU, id). Times are CLOCK_MONOTONIC (Linux 4.1), so records of all descriptors compare with each
 * other and with our own clock.
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

/* What older kernels lack. */
struct attr_features {
	bool lost;	    /* PERF_FORMAT_LOST: Linux 6.0 */
	bool defers_chains; /* defer_callchain and defer_output: Linux 6.19 */
};

/* Tries each on ourselves. An error means that nothing can be sampled at all. */
MUST_CHECK struct error *attr_probe(struct attr_features *ret);

/*
 * A descriptor that owns a ring and counts nothing. It is opened on ourselves, so that it outlives
 * every thread of the target: the ring of a thread that has ended polls as hung up for ever. The
 * reader wakes after every watermark_bytes.
 */
void attr_ring_owner(struct perf_event_attr *attr, uint32_t watermark_bytes);

/* A descriptor that writes the side band; enabled, because a disabled one writes nothing. */
void attr_side_band(struct perf_event_attr *attr, bool inherit);

/* A descriptor that writes a RECORD_SWITCH at each context switch; disabled. */
void attr_switches(struct perf_event_attr *attr, bool inherit,
		   const struct attr_features *features);

/* Lets a descriptor of another kind write the side band, too; both while it is enabled. */
void attr_add_side_band(struct perf_event_attr *attr);

/* A descriptor that samples, disabled. */
void attr_samples(struct perf_event_attr *attr, const struct event *event,
		  const struct attr_features *features);

/* Makes it the attribute of a variant of the event, which is numbered from 0; the name of its place
 * is borrowed. */
void attr_choose_variant(struct perf_event_attr *attr, const struct event *event, size_t variant);

/*
 * Gives up something that the kernel may lack, after a refusal: a level of precision, if the event
 * may be less precise; the PMU in the config of a generic event (before Linux 5.13; before 6.6 on
 * arm64, which finds the PMU of a CPU by itself). False: nothing is left to give up.
 */
bool attr_relax(struct perf_event_attr *attr, bool may_be_less_precise, int number);

/* Whether we may sample every process on a CPU. */
bool attr_may_sample_cpu(unsigned cpu);

/* The same of the processes of a cgroup. */
bool attr_may_sample_cgroup(int cgroup, unsigned cpu);

/* Makes it count without samples. */
void attr_counts_only(struct perf_event_attr *attr);

/* Leaves out the idle task of a CPU, as far as the kernel lets that be asked for. */
void attr_exclude_idle(struct perf_event_attr *attr);

/* How the records of an event opened with it are laid out. */
struct record_layout attr_layout(const struct perf_event_attr *attr);

/* Leaves the kernel out, of the samples and of their call chains. */
void attr_exclude_kernel(struct perf_event_attr *attr);

/* Returns a descriptor or a negative errno. pid 0: ourselves, -1: everyone; cpu -1: all. */
int attr_open(const struct perf_event_attr *attr, pid_t pid, int cpu);
/* The same in the group of a leader's descriptor; -1: in none. */
int attr_open_in_group(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd);
/* The same for the tasks of a cgroup on one CPU. cgroup: a descriptor of its directory. */
int attr_open_cgroup(const struct perf_event_attr *attr, int cgroup, int cpu, int leader_fd);

#endif
