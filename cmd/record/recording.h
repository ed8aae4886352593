/*
 * A recording made by a command of prof: a recorder, signals, the program that
 * prof launches, and the reason for the end.
 */
#ifndef PROF_CMD_RECORD_RECORDING_H
#define PROF_CMD_RECORD_RECORDING_H

#include "base/signals.h"
#include "record/launch.h"
#include "record/recorder.h"

#include <stdatomic.h>

enum recording_end {
	RECORDING_RUNS,
	RECORDING_COMMAND_ENDED,
	/* the processes or threads that prof attached to have ended */
	RECORDING_TARGET_ENDED,
	RECORDING_INTERRUPTED, /* a signal arrived */
	RECORDING_OVER,	       /* the duration is over, or recording_end() was called */
};

struct recording {
	/* Set before recording_open(). */
	struct record_config config;
	char *const *command; /* argv, ends with NULL; empty without a command */
	/* the command is the target; otherwise the recording ends with it */
	bool is_of_command;
	/* what is recorded (sampling_title()); freed by recording_deinit() */
	char *title;
	bool quiet;
	void (*write_so_far)(void *user); /* called on SIGUSR2; may be NULL */
	/* called after the command was waited for; may be NULL */
	void (*command_ended)(void *user);
	void *user;

	struct loop *loop;
	struct signals signals;
	struct loop_watch *signal_watch, *command_watch;
	struct listener listener;
	struct recorder *recorder;
	struct launch launch;
	bool has_command; /* launch is valid */
	/* of a command that may load libprof-inside.so; otherwise zeroed */
	struct inside_file inside;
	struct error *no_inside; /* why the command cannot load it, if perf is sufficient */

	enum recording_end end;
	struct received_signal signal; /* the signal of RECORDING_INTERRUPTED */
	uint64_t command_end_ns;       /* clock_now_ns() when the command's end was seen, or 0 */
	bool is_finishing;	       /* a signal cancels symbolization by setting `cancel` */
	atomic_bool cancel;	       /* symbolization reads it */
};

/* The recording must have been zeroed at first. */
void recording_deinit(struct recording *recording);

/* Chooses the events of config. Fails if an event's name is wrong. */
MUST_CHECK struct error *recording_choose(struct recording *recording);
/*
 * Opens signals and loop, and forks the command, which waits until
 * recording_start(). Fails if libprof-inside.so cannot be loaded but
 * config.events.via or config.memory.alloc_period needs it.
 */
MUST_CHECK struct error *recording_prepare(struct recording *recording, enum launch_output output);
/* Opens the recorder, like recorder_open(). */
MUST_CHECK struct error *recording_open(struct recording *recording, int raw_fd);
/* Starts to sample, and lets the command run. */
MUST_CHECK struct error *recording_start(struct recording *recording);
/* Returns the exit status for an error of recording_start(). */
int recording_failure_status(const struct recording *recording);

/* Runs the loop once, until until_ns (clock_now_ns()) at the latest. Returns
 * false if the recording has ended; `end` is then the reason. */
bool recording_run(struct recording *recording, uint64_t until_ns);
/* Ends the recording as if its duration were over. */
void recording_end(struct recording *recording);
/* Returns true if the next recording_run() will handle a signal or end the
 * recording. Work between two runs should then stop. */
bool recording_is_called(const struct recording *recording);
/* Returns the seconds of sampling so far. */
double recording_seconds(const struct recording *recording);

/* Gives a forked child that writes the profile a loop of its own, in which a
 * signal cancels symbolization. */
MUST_CHECK struct error *recording_fork(struct recording *recording);

/* Sends SIGTERM and SIGCONT to a command that would continue to run. From here
 * on a signal cancels symbolization. Call it after the end of sampling. */
void recording_stop_command(struct recording *recording);
/* Waits for the end of the command. Returns its status as waitpid(2) does. */
int recording_wait_command(struct recording *recording);
/*
 * Like recording_wait_command(), but returns the exit status of prof: that of
 * the command, unless prof has ended it. Does not return if a signal has ended
 * the command; prof then ends by the same signal.
 */
int recording_end_command(struct recording *recording);

#endif
