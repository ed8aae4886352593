/*
 * A recording by a command of prof: a recorder, signals, the program that prof launches, and the
 * reason of the end.
 */
#ifndef PROF_CMD_RECORDING_H
#define PROF_CMD_RECORDING_H

#include "base/signals.h"
#include "record/launch.h"
#include "record/recorder.h"

#include <stdatomic.h>

enum recording_end {
	RECORDING_RUNS,
	RECORDING_COMMAND_ENDED,
	RECORDING_TARGET_ENDED, /* the processes or threads that it was attached to */
	RECORDING_INTERRUPTED,	/* by a signal */
	RECORDING_OVER,		/* the duration is over, or recording_end() was called */
};

struct recording {
	/* Set before recording_open(). */
	struct record_config config;
	char *const *command; /* argv, ends with NULL; empty: none */
	bool is_of_command;   /* it is the target; else the recording ends with it */
	bool quiet;
	void (*write_so_far)(void *user);  /* called on SIGUSR2; may be NULL */
	void (*command_ended)(void *user); /* called when it has been waited for; may be NULL */
	void *user;

	struct loop *loop;
	struct signals signals;
	struct loop_watch *signal_watch, *command_watch;
	struct listener listener;
	struct recorder *recorder;
	struct launch launch;
	bool has_command;	   /* launch is valid */
	struct inside_file inside; /* of a command that may load libprof-inside.so; zeroed: none */
	struct error *no_inside;   /* why the command cannot, if perf is enough */

	enum recording_end end;
	struct received_signal signal; /* of RECORDING_INTERRUPTED */
	uint64_t command_end_ns; /* clock_now_ns() at which the command's end was seen; 0: not */
	bool is_finishing;	 /* a signal cuts symbolizing short … */
	atomic_bool cancel;	 /* … this way */
};

/* Of a recording that was zeroed at first. */
void recording_deinit(struct recording *recording);

/* Chooses the events of config; fails if an event's name is wrong. */
MUST_CHECK struct error *recording_choose(struct recording *recording);
/* Opens signals and loop, and forks the command, which waits until recording_start(). Where
 * config.via or config.alloc_period asks for libprof-inside.so, it fails without it. */
MUST_CHECK struct error *recording_prepare(struct recording *recording, enum launch_output output);
/* Opens the recorder; as recorder_open(). */
MUST_CHECK struct error *recording_open(struct recording *recording, int raw_fd);
/* Begins to sample, and lets the command run. */
MUST_CHECK struct error *recording_start(struct recording *recording);
/* The exit status for an error of recording_start(). */
int recording_failure_status(const struct recording *recording);

/* Runs the loop once, not beyond until_ns (clock_now_ns()). False: the recording has ended, and
 * `end` is the reason. */
bool recording_run(struct recording *recording, uint64_t until_ns);
/* Ends the recording, as the end of its duration does. */
void recording_end(struct recording *recording);
/* True if the next recording_run() will handle a signal or end the recording: what is done between
 * two runs should stop. */
bool recording_is_called(const struct recording *recording);
/* Seconds of sampling so far. */
double recording_seconds(const struct recording *recording);

/* In a forked child that writes the profile: gives it a loop of its own, in which a signal cancels
 * symbolizing. */
MUST_CHECK struct error *recording_fork(struct recording *recording);

/* After the end of sampling. Sends SIGTERM, and SIGCONT, to a command that would run on; a signal
 * cancels symbolizing from now on. */
void recording_stop_command(struct recording *recording);
/* Waits for the command's end; its status, as waitpid(2) gives it. */
int recording_wait_command(struct recording *recording);
/* The same; returns the exit status of prof: that of the command, unless prof has ended it. Does
 * not return if a signal has ended the command: prof then ends by the same signal. */
int recording_end_command(struct recording *recording);

#endif
