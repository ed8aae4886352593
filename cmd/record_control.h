/*
 * Carries out the commands of a control channel (control.h): pauses, resumes or ends a recording,
 * or writes a snapshot.
 *
 * A snapshot is the profile of what was sampled since the last one, or the last seconds of a flight
 * recorder. A forked child symbolizes and
 * writes it, and answers; this process begins a new profile and goes on sampling. The file is
 * written as an output (output.h), and must be a regular one. /dev/null is the exception: what was
 * sampled is forgotten.
 */
#ifndef PROF_CMD_RECORD_CONTROL_H
#define PROF_CMD_RECORD_CONTROL_H

#include "cmd/control.h"
#include "cmd/output.h"
#include "cmd/rotation.h"

struct record_control {
	/* Set before record_control_open(), borrowed. */
	struct recording *recording;
	struct rotation *rotation;
	/* Called in a forked child: completes the profile and writes it into the output. */
	struct error *(*write)(void *user, struct output *output);
	void *user;

	struct control *control; /* or NULL */
	struct forked_writer writer;
	struct output output; /* that it writes */
	unsigned snapshots;   /* the number of those written or being written */
};

/* As control_open(). A command that is launched later gets the channel's address in its
 * environment. */
MUST_CHECK struct error *record_control_open(struct record_control *control, const char *how,
					     bool *is_usage);
/* Begins to take commands: the recording has started. */
MUST_CHECK struct error *record_control_begin(struct record_control *control);
/* The recording has ended: carries out what has come by now, waits for snapshots, and closes the
 * channel. May be called twice, and without a channel. */
void record_control_end(struct record_control *control);

#endif
