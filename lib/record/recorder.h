/*
 * A live recording: from perf events, or the records of a library in the program, to a profile. The
 * caller runs an event loop until the recording has ended; several recordings can share a loop.
 *
 * Samples are unwound when they are read. Frames are symbolized at the end (finalize.h), or
 * repeatedly by a symbolizer of the caller. Nothing here prints or ends the process.
 */
#ifndef PROF_RECORD_RECORDER_H
#define PROF_RECORD_RECORDER_H

#include "base/loop.h"
#include "inside/source.h"
#include "perf/sampler.h"
#include "record/balance.h"
#include "record/config.h"
#include "record/lost_execs.h"
#include "record/memory.h"
#include "record/pipeline.h"
#include "record/sample_filter.h"

struct recorder;

/* Why a recording has ended by itself. */
enum recorder_end {
	RECORDER_RUNS,
	RECORDER_TARGET_ENDED, /* the processes or threads that it was attached to */
	RECORDER_DURATION_OVER,
};

/* The time that was sampled, with the pauses in it. It ends when records were last read, or when
 * the recorder was paused. */
struct recorder_window {
	uint64_t start_unix_ns;
	uint64_t start_ns, end_ns; /* clock_now_ns() */
};

/*
 * Chooses the events; fails if an event's name is wrong. Both pointers are borrowed, and listener
 * may be NULL. The target in config may be set until recorder_open().
 */
MUST_CHECK struct error *recorder_new(const struct record_config *config,
				      const struct listener *listener, struct recorder **ret);
/* NULL is allowed. The loop must not have been freed. */
void recorder_free(struct recorder *recorder);

/*
 * Opens the events on the target, disabled, and reads what the target has mapped. After an error it
 * may be called again. raw_fd: an empty file for the records if config->writes_raw is set, else -1;
 * taken, also on error.
 */
MUST_CHECK struct error *recorder_open(struct recorder *recorder, struct loop *loop, int raw_fd);
/* Begins to sample, or to wait for config->delay_ns or recorder_resume(). Release a command after
 * it. */
MUST_CHECK struct error *recorder_start(struct recorder *recorder);
/*
 * With config->commands_later: a descendant of the command will execute a program, and is recorded
 * with its descendants from then on. To be called before that; the first call begins to sample, or
 * to wait as recorder_start() does without commands_later.
 */
MUST_CHECK struct error *recorder_add_command(struct recorder *recorder, pid_t pid);
/* To be called before it: the process is called `name` when it has executed a program that the
 * kernel calls comm. */
void recorder_name_command(struct recorder *recorder, pid_t pid, const char *comm,
			   const char *name);
/*
 * Samples nothing until recorder_resume(); what was sampled before is in the profile when it
 * returns. Time that passes in a pause does not count: neither for config->duration_ns, nor as
 * waiting, nor as not sampled. Mappings, new threads and ends are still recorded. May be called
 * when the recorder is paused. A command must have been released.
 */
void recorder_pause(struct recorder *recorder);
/* Samples again, or for the first time if config->starts_paused is set; the recording's window
 * begins with the first time. May be called when the recorder is not paused. */
MUST_CHECK struct error *recorder_resume(struct recorder *recorder);
bool recorder_is_paused(const struct recorder *recorder);
/* RECORDER_RUNS until the recording has ended by itself. */
enum recorder_end recorder_end(const struct recorder *recorder);
/* True if the duration is over or the target has ended, as far as records and the loop have shown:
 * recorder_end() says so after the next run of the loop. */
bool recorder_is_over(const struct recorder *recorder);
/* Stops sampling and moves the last records into the profile. */
void recorder_stop(struct recorder *recorder);

/* Moves the records in the rings into the profile. The loop does so, too; a caller that works for
 * long between two runs of the loop calls it so that the rings do not overflow. */
void recorder_drain(struct recorder *recorder);
/* The same with all records up to now: where deep stacks are captured, the last ones come 2 ms
 * late. Returns the time up to which the profile is complete. */
uint64_t recorder_drain_up_to_now(struct recorder *recorder);
/* Adds to the profile what the kernel has counted and no sample shows, if config says so: see
 * balance.h. To be called before the profile is completed; records may follow. */
void recorder_settle(struct recorder *recorder);
/* The same, if no records will follow in this profile: a copy of the process writes it. */
void recorder_settle_end(struct recorder *recorder);
/* Only what belongs to times, on CPUs and waiting, up to now: for a live view. */
void recorder_settle_time(struct recorder *recorder);
/*
 * Ends the profile with the records that were read last and begins a new one, while sampling goes
 * on: see pipeline_rotate(). The caller frees the returned profile; *window is the time it covers.
 * The next window begins where this one ends, or with the end of the pause.
 */
struct profile *recorder_rotate(struct recorder *recorder, struct recorder_window *window);
/* Forgets profile and address spaces and begins new ones, while sampling goes on. */
void recorder_renew(struct recorder *recorder);
/* How many samples of config->trigger_event came so far, in all profiles. */
uint64_t recorder_trigger_count(const struct recorder *recorder);
/* Writes the records so far into the raw file, if any. */
void recorder_flush_raw(struct recorder *recorder);
/* Writes the rest of the raw file, if any. command: prof's own command line. */
MUST_CHECK struct error *recorder_finish_raw(struct recorder *recorder, const char *command);

/* Its pointers are NULL before recorder_open() and change with recorder_rotate() and
 * recorder_renew(). */
const struct pipeline *recorder_pipeline(const struct recorder *recorder);
const struct balance *recorder_balance(const struct recorder *recorder);
/* As recorder_settle() or recorder_settle_time() has left it. */
struct waiting_quality recorder_waiting(const struct recorder *recorder);
/* As recorder_settle() has left it: what was counted while the profile grew; nothing without
 * config->counts_stat. */
struct stat_counts recorder_stat(const struct recorder *recorder);
/* As intake_facts(). */
const struct sampler_facts *recorder_facts(const struct recorder *recorder);
/* Whether the command has to load libprof-inside.so, after recorder_open(); and what the library
 * has counted. */
bool recorder_needs_library(const struct recorder *recorder);
/* As intake_remarks(). */
const char *recorder_remarks(const struct recorder *recorder);
struct inside_counts recorder_inside(const struct recorder *recorder);
/* The programs that could not be sampled so far. */
const struct lost_execs *recorder_lost_execs(const struct recorder *recorder);
struct sample_filter_counts recorder_left_out(const struct recorder *recorder);
struct memory_counts recorder_memory(const struct recorder *recorder);
/* Of the whole recording; a rotation does not change its start. */
struct recorder_window recorder_window(const struct recorder *recorder);
/* Of the profile that grows: since the last rotation. */
struct recorder_window recorder_profile_window(const struct recorder *recorder);

#endif
