/*
 * The balance of a recording: what the kernel counted for the target's processes, beside what was
 * sampled of them.
 *
 * Samples miss what a thread did after its last full period, short processes altogether, and the
 * kernel where it may not be sampled. What is missing is added to the profile as a synthetic frame
 * of its thread, with a weight and no samples, so that sums and shares are true: [kernel] as far as
 * the time that the threads were in the kernel is known, else [not sampled]. The sum of all weights
 * of an event is then what the kernel counted. It never exceeds that: what has been added to one
 * profile is not added again, to it or to a later one.
 *
 * Samples of whole CPUs can be too many: a thread that was just sampled often loses its CPU to one
 * that waits, because the copier of its stack has run between them. So its time is met more often
 * than it should be, by a third in the worst case. All weights of a clock are then reduced by the
 * same share, to what the kernel counted; numbers of samples stay.
 *
 * Records of context switches say how long each thread ran on a CPU under each of its names. Of a
 * clock, this time less what was sampled is what a thread lacks. Of other events, a thread is taken
 * to have had as many of them as its share of the time. Without such records, or once they come too
 * fast, the time is read from /proc, five times a second at most and at the end. What no thread is
 * known to have used is then of those that ended in between, as a thread [threads] of the main
 * process.
 */
#ifndef PROF_RECORD_BALANCE_H
#define PROF_RECORD_BALANCE_H

#include "perf/record.h"
#include "proc/names.h"
#include "profile/profile.h"

struct balance;

struct balance_options {
	unsigned event_count; /* of the records */
	unsigned cpu_count;   /* that the target is recorded on */
	bool has_switches;    /* its records say when each thread got a CPU and left it */
	bool adds_missing;    /* to profiles; else it only counts */
	bool with_children;   /* threads that the target's start belong to it */
	const char *proc;     /* "/proc"; NULL: the time of threads is not read there */
	pid_t main_pid;	      /* 0: there are several */
};

struct balance *balance_new(const struct balance_options *options);
void balance_free(struct balance *balance);
DEFINE_CLEANUP(balance, balance_free)

/* Whether the time of threads is read in /proc: it has to be known, and no records tell it. */
bool balance_reads_threads(const struct balance *balance);
/* A thread of the target that runs already. */
void balance_add_thread(struct balance *balance, pid_t pid, pid_t tid);
/* Takes the next record, before the names learn of it. */
void balance_feed(struct balance *balance, struct names *names, const struct record *record);

/* Time on CPUs does not count from a pause until balance_resume(): nothing is sampled then. Records
 * may come. */
void balance_pause(struct balance *balance, uint64_t now_ns);
void balance_resume(struct balance *balance, uint64_t now_ns);

/*
 * Whether the records of context switches should end: each costs the thread 1 us, and there are
 * more than 10,000 switches per second and CPU. It then takes no more of them. To be called after
 * every batch.
 */
bool balance_ends_switches(struct balance *balance, uint64_t now_ns);
/* Reads the time of threads in /proc, if it is needed and due. To be called after every batch. */
void balance_read_threads(struct balance *balance, uint64_t now_ns);

/* Whether balance_settle() should be called, because thousands of processes have ended. */
bool balance_is_full(const struct balance *balance);

/* What the kernel has counted of an event since the beginning of the recording. */
struct balance_count {
	bool is_known; /* and to be compared with the samples */
	bool is_clock;
	bool is_exact; /* more exact than the weights of samples, which are reduced to it */
	uint64_t value;
	uint64_t kernel; /* of value, in the kernel, which was not sampled; 0: unknown */
};

/*
 * Adds to the profile what is missing of processes that have ended. If `all` is set, also of those
 * that run, and what belongs to no known process. Both arrays are by the index of an event in the
 * records.
 */
void balance_settle(struct balance *balance, const struct balance_count *counts, bool all,
		    struct names *names, struct profile *profile, const event_id *events);

/* What was counted since the former profile ended, when it was settled last. False: unknown, or
 * not an event that is sampled. */
bool balance_counted(const struct balance *balance, unsigned event, uint64_t *ret);
/* Later calls of balance_settle() are for another profile. */
void balance_begin_profile(struct balance *balance);

#endif
