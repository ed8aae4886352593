/*
 * Dispatches records in time order: mappings to the address spaces, names to proc/names, samples
 * through the unwinder into the profile. Live records and those of a file take the same path.
 */
#ifndef PROF_RECORD_SESSION_H
#define PROF_RECORD_SESSION_H

#include "perf/record.h"
#include "proc/address_spaces.h"
#include "proc/names.h"
#include "profile/profile.h"
#include "record/cgroup_labels.h"
#include "record/sample_stacks.h"
#include "unwind/unwind.h"

struct session_counts {
	uint64_t samples;
	uint64_t lost;		   /* samples the kernel could not write */
	uint64_t lost_allocations; /* sampled ones for which the library found no room */
	uint64_t lost_changes;	   /* records of mappings, names and lives of processes, the same */
	uint64_t lost_switches;	   /* records of context switches that it could not write */
	uint64_t throttled;	   /* times the kernel paused sampling */
	uint64_t other_values;	   /* samples with a label [other] (field_labels.h) */
	uint64_t
		lossy_processes; /* that lost mappings (address_spaces.h); known at session_end() */
	uint64_t idle;		 /* samples of the idle loops of CPUs, which are left out */
	uint64_t strays;	 /* user parts of call chains that no sample had waited for */
	struct stack_counts stacks;
};

struct session;

/* All are borrowed. */
struct session *session_new(struct address_spaces *spaces, struct names *names,
			    struct unwinder *unwinder, const struct arch *arch,
			    struct profile *profile);
void session_free(struct session *session);
DEFINE_CLEANUP(session, session_free)

/*
 * Adds the next event of the records: the first one added is record.sample.event 0, and so on.
 * Every event must be added before its samples. Each stays an event of its own in the profile: the
 * second one called "cycles" becomes "cycles#2".
 */
void session_add_event(struct session *session, const struct profile_event *event);
/* Samples of an event are occurrences, and all count; else those of idle CPUs do not (idle_task.h).
 */
void session_count_occurrences(struct session *session, unsigned event);
/* kallsyms: as in struct idle_task. */
void session_set_kernel_symbols(struct session *session, const char *kallsyms);
/* The events of the profile, in the order in which they were added. */
const event_id *session_events(const struct session *session);
unsigned session_event_count(const struct session *session);

/* See sample_stacks.h. */
void session_set_depth(struct session *session, unsigned frames);
void session_set_ceiling(struct session *session, uint32_t stacks);
void session_set_fresh_maps(struct session *session, struct fresh_maps *fresh);

/* Gives samples the labels of their processes' cgroups; borrowed. */
void session_set_cgroup_labels(struct session *session, struct cgroup_labels *cgroups);

/* The process that executes a program of which the kernel knows the name comm is called `name`. */
void session_name_process(struct session *session, pid_t pid, const char *comm, const char *name);
/* Makes the next program that the process executes the profile's main module … */
void session_set_main_process(struct session *session, pid_t pid);
/* … or, for a process that runs already, the file of that name. */
void session_set_main_path(struct session *session, const char *path);

/* Adds a thread that existed before the records. A process ends with the last of its threads, which
 * need not be its first one. */
void session_add_thread(struct session *session, pid_t pid, pid_t tid);

/*
 * Bounds memory where processes come and go: whenever `count` threads have ended, their samples
 * become samples of their process (tid -1), and those of ended processes become one process per
 * name (pid and tid -1). Ids of samples change then. Not for a profile that keeps timestamps.
 */
void session_fold_ended(struct session *session, unsigned count);
/* Called whenever that happens, for those who keep threads of samples that are still to come: they
 * give each to session_fold_thread(), which may be called only then. */
void session_on_fold(struct session *session, void (*folded)(void *user), void *user);
void session_fold_thread(const struct session *session, struct profile_thread *thread);
/* Whether the process ends if this thread of it ends next. */
bool session_ends_with(const struct session *session, pid_t pid, pid_t tid);

/* The number of threads that look ahead (look_ahead.h). 1, the default: nothing looks ahead. */
void session_set_threads(struct session *session, unsigned threads);
/*
 * Begins to look ahead at records, which stay where they are. What changes address spaces takes
 * effect at once. Lookups are by time, so samples from before the change do not notice it, but for
 * the jitdump of a process: it has one at a time.
 */
void session_look_ahead(struct session *session, const struct record *records, size_t count);
/* Looks at them all. Before that nothing else may be done with the session; then each of the
 * records is given to session_feed() or passed over. */
void session_finish_look(struct session *session);
void session_feed(struct session *session, const struct record *record);
/* The extent of the stack of the last record. If a copier's copy was not enough, its end is a guess
 * above the copy. */
struct stack_extent session_stack_extent(const struct session *session);
/* The stack of the last record, a sample; STACK_EMPTY: it has been added to no stack. */
stack_id session_last_stack(const struct session *session);
/*
 * The stack of a thread that was read in another way, as a record of a sample that is not counted;
 * *extent as session_stack_extent().
 */
stack_id session_find_stack(struct session *session, const struct record *record,
			    struct stack_extent *extent);
/* The same of a call that is measured, whose weight is not known yet: it is counted as those of
 * session_feed() … */
stack_id session_take_stack(struct session *session, const struct record *record);
/* … and added at its end, a sample of the same event, where it has taken `ns`. */
void session_add_call(struct session *session, const struct record *end, label_set_id labels,
		      stack_id stack, uint64_t ns);
/* The labels of a thread, which may have ended lately. */
label_set_id session_labels(struct session *session, pid_t pid, pid_t tid);
struct profile *session_profile(const struct session *session);
module_id session_kernel(const struct session *session);
/* As address_spaces_missed_files(). */
uint64_t session_missed_files(const struct session *session);
/* The module of code that the process has mapped now. False: there is none. */
bool session_module(struct session *session, pid_t pid, uint64_t pc, module_id *ret);
/* The frame of a variable of the process, which has no place in a stack but a name. False: none. */
bool session_data_frame(struct session *session, pid_t pid, uint64_t address, frame_id *ret);
/* Forgets processes, threads and mappings that ended before this time. No older record may follow.
 */
void session_forget(struct session *session, uint64_t before_ns);
/* Adds the samples that still wait for the user part of their call chain. No records may follow. */
void session_end(struct session *session);
/* Describes to the profile the modules of its frames, and puts its timed samples in order. Records
 * may follow. */
void session_finish(struct session *session);
/*
 * Continues with another profile, which is empty and gets the same events; counts begin at 0. The
 * former profile is as after session_end() and session_finish() and no longer borrowed.
 */
void session_change_profile(struct session *session, struct profile *profile);

const struct session_counts *session_counts(const struct session *session);
void session_counts_add(struct session_counts *sum, const struct session_counts *more);

#endif
