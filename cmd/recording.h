/*
 * One recording: its target, everything between the kernel and the profile, and the loop that moves
 * records from one to the other until something ends it.
 */
#ifndef PROF_CMD_RECORDING_H
#define PROF_CMD_RECORDING_H

#include "cmd/launch.h"
#include "cmd/raw_output.h"
#include "cmd/record_options.h"
#include "cmd/signals.h"
#include "perf/sampler.h"
#include "session.h"

enum recording_end {
	END_COMMAND, /* the command has ended */
	END_TARGET,  /* the processes or threads that were attached to have ended */
	END_SIGNAL,
	END_DURATION,
};

struct recording {
	const struct record_options *options;
	const struct signals *signals;
	char *const *command;		  /* NULL at its end; empty: none */
	bool has_command;		  /* and it has been started */
	bool keeps_moments;		  /* the profile is to know when samples were taken */
	void (*write_so_far)(void *user); /* SIGUSR2 asks for it; the recording goes on */
	void *user;
	struct launch launch; /* where there is one */

	struct event *events;
	size_t event_count;
	const char *event_reason; /* why the event is another than one would expect; else NULL */
	struct sampler *sampler;
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct stacks *stacks;
	struct session *session;
	struct raw_output raw; /* its output is set before it is opened */

	uint64_t start_unix_ns;
	uint64_t start_ns, end_ns;
	enum recording_end end;
	struct received_signal signal; /* END_SIGNAL: which */
};

/* Is the command what is recorded, or does it only bound the recording of another target? */
bool recording_is_of_command(const struct record_options *options);

/* What is to be sampled; an error is about the words. */
MUST_CHECK struct error *recording_choose_events(struct recording *recording);

/* Opens the events on the target; the command, if any, has not run yet. */
MUST_CHECK struct error *recording_open(struct recording *recording);
void recording_close(struct recording *recording);

/* Samples until something ends it; then all records have reached the profile. */
MUST_CHECK struct error *recording_run(struct recording *recording);

#endif
