/*
 * Dispatches records in time order: mappings to the address spaces, names to
 * proc/names, and samples through the unwinder to the profile. Live recordings
 * and imported files both use it.
 */
#ifndef PROF_RECORD_SESSION_H
#define PROF_RECORD_SESSION_H

#include "perf/record.h"
#include "proc/address_spaces.h"
#include "proc/names.h"
#include "profile/profile.h"
#include "record/cgroup_labels.h"
#include "record/listener.h"
#include "record/sample_stacks.h"
#include "record/session_counts.h"
#include "runtime/scripts.h"
#include "unwind/unwind.h"

struct interrupt_code;
struct session;

/* All pointers are borrowed. */
struct session *session_new(struct address_spaces *spaces, struct names *names,
			    struct unwinder *unwinder, const struct arch *arch,
			    struct profile *profile);
void session_free(struct session *session);
DEFINE_CLEANUP(session, session_free)

/*
 * Adds the next event. The first one added is record.sample.event 0, and so on.
 * An event must be added before its samples. Each event is separate in the
 * profile: a second event "cycles" is called "cycles#2".
 */
void session_add_event(struct session *session, const struct profile_event *event);
/* Declares that samples of an event are occurrences, which all count. For other
 * events, samples of idle CPUs are omitted, except those of interrupts. */
void session_count_occurrences(struct session *session, unsigned event);
/* Enables samples of interrupts of idle CPUs, which are otherwise omitted, too.
 * Takes ownership of the code. To be called at most once. */
void session_set_interrupt_code(struct session *session, struct interrupt_code *code);
/* Returns the events of the profile in the order in which they were added. */
const event_id *session_events(const struct session *session);
unsigned session_event_count(const struct session *session);

/* See sample_stacks.h. */
void session_set_depth(struct session *session, unsigned frames);
void session_set_ceiling(struct session *session, uint32_t stacks);
void session_set_fresh_maps(struct session *session, struct fresh_maps *fresh);
/* Shows the functions of scripts. Borrowed. */
void session_set_scripts(struct session *session, struct scripts *scripts);
/* See script_runtimes_tell(). */
void session_tell_runtimes(const struct session *session, const struct listener *listener);

/* Enables labels for the cgroups of processes. Borrowed. */
void session_set_cgroup_labels(struct session *session, struct cgroup_labels *cgroups);

/* Names the process `name` when it has executed a program whose kernel name is
 * comm. */
void session_name_process(struct session *session, pid_t pid, const char *comm, const char *name);
/* The next program that the process executes becomes the profile's main
 * module. */
void session_set_main_process(struct session *session, pid_t pid);
/* The file with this path becomes the profile's main module. For a process that
 * runs already. */
void session_set_main_path(struct session *session, const char *path);

/* Adds a thread that existed before the records. A process ends with the last
 * of its threads, which need not be its first one. */
void session_add_thread(struct session *session, pid_t pid, pid_t tid);

/*
 * Bounds memory if processes come and go. Whenever `count` threads have ended,
 * their samples become samples of their process (tid -1). Samples of ended
 * processes are merged into one process per name (pid and tid -1). This changes
 * the label sets of samples. Must not be used with timestamps.
 */
void session_fold_ended(struct session *session, unsigned count);
/*
 * Sets a callback for each fold. A caller that keeps threads of future samples
 * must pass each of them to session_fold_thread(), which may be called only in
 * the callback.
 */
void session_on_fold(struct session *session, void (*folded)(void *user), void *user);
void session_fold_thread(const struct session *session, struct profile_thread *thread);
/* Whether the process ends if this thread ends next. */
bool session_ends_with(const struct session *session, pid_t pid, pid_t tid);

void session_feed(struct session *session, const struct record *record);
/* Returns the extent of the stack of the last record. If the copier's copy was
 * too small, its end is a guess above the copy. */
struct stack_extent session_stack_extent(const struct session *session);
/* Returns the stack of the last record, which was a sample. Returns STACK_EMPTY
 * if it was added to no stack. */
stack_id session_last_stack(const struct session *session);
/*
 * Returns the stack of a thread that was not sampled but read otherwise, passed
 * as a sample record. Does not count it. *extent is as for
 * session_stack_extent().
 */
stack_id session_find_stack(struct session *session, const struct record *record,
			    struct stack_extent *extent);
/* Returns the stack of the entry of a measured call, whose weight is not known
 * yet. Counts it like a sample in session_feed(). */
stack_id session_take_stack(struct session *session, const struct record *record);
/* Adds a measured call of `ns`. end is the sample at its end, which has the
 * same event. */
void session_add_call(struct session *session, const struct record *end, label_set_id labels,
		      stack_id stack, uint64_t ns);
/* Returns the labels of a thread, which may have ended recently. */
label_set_id session_labels(struct session *session, pid_t pid, pid_t tid);
struct profile *session_profile(const struct session *session);
module_id session_kernel(const struct session *session);
/* See address_spaces_missed_files(). */
uint64_t session_missed_files(const struct session *session);
/* Finds the module that the process maps at pc now. Returns false if there is
 * none. */
bool session_module(struct session *session, pid_t pid, uint64_t pc, module_id *ret);
/* Finds the frame for a variable of the process. It is not part of a stack; it
 * only has a name. Returns false if there is none. */
bool session_data_frame(struct session *session, pid_t pid, uint64_t address, frame_id *ret);
/* Forgets processes, threads and mappings that ended before this time. No older
 * record may follow. */
void session_forget(struct session *session, uint64_t before_ns);
/* Adds the samples that still wait for the user part of their call chain. No
 * records may follow. */
void session_end(struct session *session);
/* Describes the modules of the profile's frames in the profile, and sorts its
 * timed samples. Records may follow. */
void session_finish(struct session *session);
/*
 * Continues with another profile, which is empty and gets the same events.
 * Counts restart at 0. The previous profile is completed as by session_end()
 * and session_finish() and no longer borrowed.
 */
void session_change_profile(struct session *session, struct profile *profile);

const struct session_counts *session_counts(const struct session *session);

#endif
