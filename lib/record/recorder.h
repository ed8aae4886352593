/*
 * A live recording: turns perf events, or the records of the preloaded agent,
 * into a profile. The caller runs an event loop until the recording has ended.
 * Several recordings can share a loop.
 *
 * Samples are unwound when they are read. Frames are symbolized at the end
 * (finalize.h), or repeatedly by a symbolizer of the caller. The recorder does
 * not print or exit.
 */
#ifndef PROF_RECORD_RECORDER_H
#define PROF_RECORD_RECORDER_H

#include "base/loop.h"
#include "inside/source.h"
#include "perf/sampler.h"
#include "record/config.h"
#include "record/lost_execs.h"
#include "record/memory.h"
#include "record/pipeline.h"
#include "record/sample_filter.h"
#include "record/unsampled.h"

struct recorder;

/* Why a recording has ended by itself. */
enum recorder_end {
	RECORDER_RUNS,
	RECORDER_TARGET_ENDED, /* the target's processes or threads have ended */
	RECORDER_DURATION_OVER,
};

/* The recorded time, including its pauses. It ends when records were last read,
 * or at the start of a pause. */
struct recorder_window {
	uint64_t start_unix_ns;
	uint64_t start_ns, end_ns; /* clock_now_ns() */
};

/*
 * Chooses the events. Fails if the name of an event is invalid. Both pointers
 * are borrowed; listener may be NULL. The target in config may be changed until
 * recorder_open().
 */
MUST_CHECK struct error *recorder_new(const struct record_config *config,
				      const struct listener *listener, struct recorder **ret);
/* Accepts NULL. The loop must not have been freed. */
void recorder_free(struct recorder *recorder);

/*
 * Opens the events on the target, disabled, and reads the existing mappings of
 * the target. May be called again after an error.
 *
 * raw_fd is an empty file for the records (perf.data) if
 * config->output.writes_raw is set, else -1. The recorder takes ownership of
 * it, also on error.
 */
MUST_CHECK struct error *recorder_open(struct recorder *recorder, struct loop *loop, int raw_fd);
/*
 * Starts sampling. With config->control.delay_ns sampling starts after the
 * delay; with starts_paused it starts with recorder_resume(). Release a command
 * after this call.
 */
MUST_CHECK struct error *recorder_start(struct recorder *recorder);
/*
 * With config->target.commands_later: records process `pid`, a descendant of
 * the command, and its descendants. Must be called before the process executes
 * its program. The first call starts sampling; recorder_start() does not with
 * commands_later.
 */
MUST_CHECK struct error *recorder_add_command(struct recorder *recorder, pid_t pid);
/* Replaces the name of a process in the profile: when an exec sets its name to
 * `comm`, the profile shows `name` instead. Must be called before the exec. */
void recorder_name_command(struct recorder *recorder, pid_t pid, const char *comm,
			   const char *name);
/*
 * Stops sampling until recorder_resume(). When it returns, the profile contains
 * all samples taken before.
 *
 * Paused time does not count for config->control.duration_ns, as off-CPU time
 * or as unsampled time. Mappings, new threads and exits are still recorded. May
 * be called when the recorder is paused already. A command must have been
 * released.
 */
void recorder_pause(struct recorder *recorder);
/*
 * Resumes sampling, or starts it if config->control.starts_paused is set. The
 * recorded window starts with the first call. May be called when the recorder
 * is not paused.
 */
MUST_CHECK struct error *recorder_resume(struct recorder *recorder);
bool recorder_is_paused(const struct recorder *recorder);
/* Returns RECORDER_RUNS until the recording has ended by itself. */
enum recorder_end recorder_end(const struct recorder *recorder);
/*
 * Returns whether the duration is over or the target has ended. It knows only
 * what the records read so far and the last run of the loop have shown.
 * recorder_end() returns the reason after the next run of the loop.
 */
bool recorder_is_over(const struct recorder *recorder);
/* Stops sampling and moves the last records into the profile. */
void recorder_stop(struct recorder *recorder);

/*
 * Moves the records in the rings into the profile. The loop also does this. If
 * the caller does other work for long between two runs of the loop, it must
 * call this function, or the rings overflow.
 */
void recorder_drain(struct recorder *recorder);
/*
 * Like recorder_drain(), for all records up to now. Takes 2 ms longer if deep
 * stacks are captured, because their records arrive late. Returns the time up
 * to which the profile is complete.
 */
uint64_t recorder_drain_up_to_now(struct recorder *recorder);
/*
 * Adds the unsampled time to the profile if config requests it (unsampled.h).
 * Must be called before the profile is finalized. More records may follow.
 */
void recorder_settle(struct recorder *recorder);
/* Like recorder_settle(), but no more records may be added to this profile. For
 * a forked child that writes the profile. */
void recorder_settle_end(struct recorder *recorder);
/* Like recorder_settle(), but only for CPU time and off-CPU time up to now. For
 * a live view. */
void recorder_settle_time(struct recorder *recorder);
/*
 * Ends the profile with the last records read and starts a new one while
 * sampling continues: see pipeline_rotate(). The caller frees the returned
 * profile. Sets *window to the time that it covers. The next window starts
 * where this one ends, or at the end of a pause.
 */
struct profile *recorder_rotate(struct recorder *recorder, struct recorder_window *window);
/* Replaces profile and address spaces by empty ones while sampling
 * continues. */
void recorder_renew(struct recorder *recorder);
/* Returns the number of samples of config->events.trigger in all profiles so
 * far. */
uint64_t recorder_trigger_count(const struct recorder *recorder);
/* Writes the records so far to the raw file, if any. */
void recorder_flush_raw(struct recorder *recorder);
/* Completes the raw file, if any. command is prof's own command line. */
MUST_CHECK struct error *recorder_finish_raw(struct recorder *recorder, const char *command);

/* Members are NULL before recorder_open() and change with recorder_rotate() and
 * recorder_renew(). */
const struct pipeline *recorder_pipeline(const struct recorder *recorder);
const struct unsampled *recorder_unsampled(const struct recorder *recorder);
/* Valid after recorder_settle() or recorder_settle_time(). */
struct waiting_quality recorder_waiting(const struct recorder *recorder);
/* Returns the counts for the current profile, which are empty without
 * config->output.counts_stat. Valid after recorder_settle(). */
struct stat_counts recorder_stat(const struct recorder *recorder);
/* See recording_source_facts(). */
const struct sampler_facts *recorder_facts(const struct recorder *recorder);
/* Whether the command must load the agent. Valid after recorder_open(). */
bool recorder_needs_library(const struct recorder *recorder);
/* See recording_source_remarks(). */
const char *recorder_remarks(const struct recorder *recorder);
struct inside_counts recorder_inside(const struct recorder *recorder);
/* Returns the programs that could not be sampled so far. */
const struct lost_execs *recorder_lost_execs(const struct recorder *recorder);
/* Returns the numbers of samples that the filter has omitted so far. */
struct sample_filter_counts recorder_left_out(const struct recorder *recorder);
struct memory_counts recorder_memory(const struct recorder *recorder);
/* Returns the window of the whole recording, which rotations do not change. */
struct recorder_window recorder_window(const struct recorder *recorder);
/* Returns the window of the current profile: since the last rotation. */
struct recorder_window recorder_profile_window(const struct recorder *recorder);

#endif
