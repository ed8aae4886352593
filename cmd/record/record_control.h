/*
 * Carries out the commands of a control channel (control.h): pauses, resumes or
 * ends a recording, or writes a snapshot.
 *
 * A snapshot is the profile of the samples since the last one, or of the last
 * seconds of a flight recorder. A forked child symbolizes and writes it, and
 * answers; this process starts a new profile and continues to sample. The file
 * is written like an output (output.h) and must be a regular file. /dev/null is
 * the exception: it discards the samples.
 */
#ifndef PROF_CMD_RECORD_RECORD_CONTROL_H
#define PROF_CMD_RECORD_RECORD_CONTROL_H

#include "cmd/record/control.h"
#include "cmd/record/rotation.h"
#include "output/output.h"

struct record_control {
	/* Set before record_control_open(). Borrowed. */
	struct recording *recording;
	struct rotation *rotation;
	/* Called in a forked child. Completes the profile and writes it to the
	 * output. */
	struct error *(*write)(void *user, struct output *output);
	void *user;

	struct control *control; /* NULL without a channel */
	struct forked_writer writer;
	struct output output; /* the file that the child writes */
	unsigned snapshots;   /* number of snapshots written or being written */
};

/* Like control_open(). A command that is launched later gets the channel's
 * address in its environment. */
MUST_CHECK struct error *record_control_open(struct record_control *control, const char *how);
/* Starts to take commands. Call it when the recording has started. */
MUST_CHECK struct error *record_control_begin(struct record_control *control);
/*
 * Carries out the commands that have arrived, waits for snapshots, and closes
 * the channel. Call it when the recording has ended. May be called twice, and
 * without a channel.
 */
void record_control_end(struct record_control *control);

#endif
