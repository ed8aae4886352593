/*
 * Unsampled-time accounting: adds to a profile what the kernel counted for the
 * target's processes and no sample shows.
 *
 * Samples miss what a thread did after its last full period, short processes
 * altogether, and the kernel where it may not be sampled. The missing weight is
 * added as a synthetic frame of its thread, without samples, so that sums and
 * shares are correct. The frame is [kernel] for the time that threads are known
 * to have spent in the kernel, else [not sampled]. The weights of an event then
 * add up to the kernel's count and never exceed it. Weight that was added to
 * one profile is not added again, neither to it nor to a later one.
 *
 * Samples of whole CPUs can overcount a clock. A thread that was just sampled
 * often loses its CPU to a waiting one, because the copier of its stack ran in
 * between. Its time is then sampled too often, by up to a third. In this case
 * all weights of the clock are scaled down to the kernel's count. The numbers
 * of samples do not change.
 *
 * Context-switch records contain how long each thread ran under each of its
 * names. For a clock, a thread's unsampled time is this time minus its samples.
 * Other events are attributed to threads in proportion to their time. Without
 * such records, or when they become too frequent, the time is read from /proc,
 * at most five times a second and at the end. Time that cannot be attributed to
 * any thread then belongs to threads that ended between two reads. It is added
 * as a thread [threads] of the main process.
 */
#ifndef PROF_RECORD_UNSAMPLED_H
#define PROF_RECORD_UNSAMPLED_H

#include "perf/record.h"
#include "proc/names.h"
#include "profile/profile.h"

struct unsampled;

struct unsampled_options {
	unsigned event_count; /* number of events in the records */
	unsigned cpu_count;   /* number of recorded CPUs */
	bool has_switches;    /* records of context switches are written */
	bool adds_missing;    /* add the missing weight to profiles; else only count it */
	bool with_children;   /* threads and processes started by the target belong to it */
	const char *proc;     /* "/proc"; NULL to not read the time of threads */
	pid_t main_pid;	      /* 0 if there are several */
};

struct unsampled *unsampled_new(const struct unsampled_options *options);
void unsampled_free(struct unsampled *unsampled);
DEFINE_CLEANUP(unsampled, unsampled_free)

/* Whether the time of threads is read from /proc, because it is needed and no
 * records contain it. */
bool unsampled_reads_threads(const struct unsampled *unsampled);
/* Adds a running thread of the target. */
void unsampled_add_thread(struct unsampled *unsampled, pid_t pid, pid_t tid);
/* Takes the next record. Must be called before names are updated with it. */
void unsampled_feed(struct unsampled *unsampled, struct names *names, const struct record *record);

/* Excludes CPU time until unsampled_resume(), for a pause in sampling. Records
 * may be fed in a pause. */
void unsampled_pause(struct unsampled *unsampled, uint64_t now_ns);
void unsampled_resume(struct unsampled *unsampled, uint64_t now_ns);

/*
 * Whether context-switch records should be disabled, because there are more
 * than 10,000/s per CPU and each costs the thread 1 us. Ignores further ones
 * then. Must be called after every batch.
 */
bool unsampled_ends_switches(struct unsampled *unsampled, uint64_t now_ns);
/* Reads the time of threads from /proc if it is needed and due. Must be called
 * after every batch. */
void unsampled_read_threads(struct unsampled *unsampled, uint64_t now_ns);

/* Whether unsampled_settle() should be called, because thousands of processes
 * have ended. */
bool unsampled_is_full(const struct unsampled *unsampled);

/* The kernel's count of an event since the start of the recording. */
struct unsampled_count {
	bool is_known; /* known, and comparable with the samples */
	bool is_clock;
	bool is_exact; /* more exact than the weights of samples, which are scaled down to it */
	uint64_t value;
	uint64_t kernel; /* the unsampled kernel time in value; 0 if unknown */
};

/*
 * Adds the missing weight of processes that have ended to the profile. With
 * `all`, also adds that of running processes and what belongs to no known
 * process. Both arrays are indexed by the event number of the records.
 */
void unsampled_settle(struct unsampled *unsampled, const struct unsampled_count *counts, bool all,
		      struct names *names, struct profile *profile, const event_id *events);

/* Returns what was counted between the end of the previous profile and the last
 * settling. Returns false if it is unknown or if the event is not sampled. */
bool unsampled_counted(const struct unsampled *unsampled, unsigned event, uint64_t *ret);
/* Must be called when later calls of unsampled_settle() are for another
 * profile. */
void unsampled_begin_profile(struct unsampled *unsampled);

#endif
