/*
 * Pushes the profiles of a rotation (rotation.h), while the recording goes on. A forked child
 * delivers those of their directory that were not delivered yet, also by an earlier prof with the
 * same names; one that is written meanwhile is delivered after them. The files are the queue
 * (push/backlog.h): a server that is away for an hour gets that hour when it is back, as far as
 * its files are still there.
 *
 * Segments of --every begin with the full minute on all machines, so each machine waits for a time
 * of its own before it pushes one (push_delay_ns()).
 */
#ifndef PROF_CMD_PUSH_SEGMENTS_H
#define PROF_CMD_PUSH_SEGMENTS_H

#include "cmd/forked_writer.h"
#include "cmd/outputs.h"
#include "cmd/push.h"
#include "cmd/recording.h"

struct push_segments {
	/* Set before push_segments_open(), borrowed. */
	struct push *push;
	struct recording *recording;
	uint64_t every_ns; /* 0: segments begin at any time */
	bool has_lock;	   /* as in struct push */

	struct output_directory own;		  /* where the profiles are in no given one */
	const struct output_directory *directory; /* NULL: there is nothing to push */
	char *prefix;
	struct forked_writer writer;
	bool is_wanted;	 /* another one was written since the child began */
	bool has_failed; /* the last time */
};

/* options: with the templates of the outputs. Fails if none of them is a pprof file. */
MUST_CHECK struct error *push_segments_open(struct push_segments *segments,
					    const struct outputs *outputs,
					    const struct output_options *options);
void push_segments_deinit(struct push_segments *segments);
/* A profile has got its files. */
void push_segments_begin(struct push_segments *segments);
/* Sampling has ended: ends the child. */
void push_segments_stop(struct push_segments *segments);
/* All profiles have been written: delivers what is left. False: not all. */
bool push_segments_finish(const struct push_segments *segments);

#endif
