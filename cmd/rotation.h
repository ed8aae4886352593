/*
 * Several profiles of one recording, each in files of its own whose names have the time: segments,
 * which follow each other without a gap (--switch-output), or what a flight recorder keeps of the
 * last seconds (--overwrite).
 *
 * A cut ends a profile. A forked child symbolizes and writes it (forked_writer.h); this process
 * begins the next one and goes on sampling. A cut that is asked for while another one is written
 * is made after it. A file appears under its name when it is complete, so a prof that is killed
 * loses the current profile, and no other.
 *
 * If only the last segments are kept, older files of this recording are removed, and no others. On
 * a full disk the oldest is removed to make room; without it a segment that cannot be written is
 * lost, reported and counted, and the recording goes on.
 *
 * With --every, segments lie in a directory (segment_store.h) and begin at multiples of their time
 * on the clock: minutes begin with minutes. Those of an hour that is over are merged
 * (segment_merging.h). Their frames are symbolized here, by a symbolizer that
 * is kept, before the child is forked: it would have to read the same files in each. Where
 * processes come and go for days, address spaces and symbolizer begin anew whenever they have
 * grown.
 *
 * A size is that of the files, as estimated (file_estimate.h).
 */
#ifndef PROF_CMD_ROTATION_H
#define PROF_CMD_ROTATION_H

#include "cmd/file_estimate.h"
#include "cmd/forked_writer.h"
#include "cmd/kept_symbolizer.h"
#include "cmd/outputs.h"
#include "cmd/recording.h"
#include "cmd/rotation_options.h"
#include "cmd/segment_merging.h"
#include "cmd/segment_store.h"
#include "cmd/segments.h"
#include "record/history.h"

struct rotation {
	/* Set before rotation_open(), borrowed. */
	const struct rotation_options *options;
	struct recording *recording;
	const struct output_options *output;
	const struct push *push;
	struct kept_symbolizer *symbolizer; /* used with --every alone */
	/* Called in a forked child: completes the profile. reason: why it is written; NULL: as the
	 * options say. is_symbolized: by the kept symbolizer. */
	void (*complete)(void *user, const char *reason, bool is_symbolized);
	/* Called when a profile has got its files. */
	void (*has_written)(void *user);
	void *user;

	const struct outputs *at_end; /* of the last profile */
	struct history *history;      /* of a flight recorder; NULL: segments, or none */
	struct segment_store store;   /* of --every */
	struct segment_merging merging;
	struct forked_writer writer;
	struct outputs outputs; /* that the child writes */
	char *reason;		/* of the child */
	char *next_reason;	/* of a cut that has to wait */
	bool is_wanted;		/* there is such a cut */
	uint64_t cut_ns;	/* a segment that has a time ends then */
	bool is_symbolized;	/* the profile that the child writes */
	uint64_t checked_ns;	/* sizes, triggers: then */
	uint64_t named_unix_ns; /* the time in the last names */
	struct trigger_reader reader;
	uint64_t trigger_count; /* events that have been handled */
	uint64_t rest_ns;	/* another one has no effect before then */

	struct file_estimate estimate;
	struct segments segments;
	uint64_t written, failed;
};

/* Whether the recording has several profiles. */
bool rotation_is_on(const struct rotation_options *options);

/* Before outputs are opened: with --every, opens and locks the directory that is the one output
 * named, and names its next segment in its place. *is_usage: the error is about the command line.
 */
MUST_CHECK struct error *rotation_open_store(struct rotation *rotation,
					     struct output_options *options, bool *is_usage);
/* Before sampling: checks that the outputs are files of profiles. */
MUST_CHECK struct error *rotation_open(struct rotation *rotation, const struct outputs *outputs);
void rotation_deinit(struct rotation *rotation);
/* Sampling has begun. */
void rotation_begin(struct rotation *rotation);
/* clock_now_ns() at which rotation_step() has something to do. */
uint64_t rotation_next_ns(const struct rotation *rotation);
/* Cuts if it is time. Call it between two runs of the loop. */
void rotation_step(struct rotation *rotation);
/* Cuts now, or as soon as the last cut has been written. */
void rotation_cut(struct rotation *rotation, const char *reason);
/*
 * Starts a child that writes the profile so far, and begins the next one: as forked_writer_start().
 * In the child, history_gather() makes the profile of a flight recorder. All records up to now have
 * been read.
 */
MUST_CHECK struct error *
rotation_fork(struct rotation *rotation, struct forked_writer *writer, int (*child)(void *user),
	      void (*ended)(void *user, const struct forked_writer_end *end), void *user);
/* Forgets what was sampled. */
void rotation_forget(struct rotation *rotation);
/* Sampling has ended: waits for the child. What is left is for the caller to complete and write …
 */
void rotation_end(struct rotation *rotation);
/* … into outputs that are opened here in place of those. */
MUST_CHECK struct error *rotation_open_last(struct rotation *rotation, struct outputs *outputs);
/* Prints what there is to say of all. is_written: the last one. */
void rotation_finish(struct rotation *rotation, bool is_written);

#endif
