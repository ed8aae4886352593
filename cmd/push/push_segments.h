/*
 * Pushes the profiles of a rotation (rotation.h) while the recording continues.
 * A forked child delivers the profiles in their directory that were not
 * delivered yet, including those of an earlier prof with the same names. A
 * profile that is written while the child runs is delivered after them. The
 * files are the queue (push/backlog.h): a server that is down for an hour gets
 * that hour when it is back, as long as the files still exist.
 *
 * Segments of --every start with the full minute on all machines, so each
 * machine waits for a time of its own before it pushes one (push_delay_ns()).
 */
#ifndef PROF_CMD_PUSH_PUSH_SEGMENTS_H
#define PROF_CMD_PUSH_PUSH_SEGMENTS_H

#include "cmd/outputs.h"
#include "cmd/push/push.h"
#include "cmd/record/forked_writer.h"
#include "cmd/record/recording.h"

struct push_segments {
	/* Set before push_segments_open(). Borrowed. */
	struct push *push;
	struct recording *recording;
	uint64_t every_ns; /* 0 if segments start at any time */
	bool has_lock;	   /* as in struct push */

	struct output_directory own; /* the directory of the profiles if none is given */
	const struct output_directory *directory; /* NULL if there is nothing to push */
	char *prefix;
	struct forked_writer writer;
	bool is_wanted;	 /* another profile was written since the child started */
	bool has_failed; /* the last push */
};

/* options: with the output templates. Fails if none of them is a pprof file. */
MUST_CHECK struct error *push_segments_open(struct push_segments *segments,
					    const struct outputs *outputs,
					    const struct output_options *options);
void push_segments_deinit(struct push_segments *segments);
/* Call it when a profile has been written to its files. */
void push_segments_begin(struct push_segments *segments);
/* Ends the child. Call it when sampling has ended. */
void push_segments_stop(struct push_segments *segments);
/* Delivers the remaining profiles. Call it when all profiles are written.
 * Returns false if not all were delivered. */
bool push_segments_finish(const struct push_segments *segments);

#endif
