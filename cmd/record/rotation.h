/*
 * Writes several profiles of one recording, each to files of its own whose
 * names contain the time: either segments, which follow each other without a
 * gap (--switch-output), or the last seconds that a flight recorder keeps
 * (--overwrite).
 *
 * A cut ends a profile. A forked child symbolizes and writes it
 * (forked_writer.h); this process starts the next one and continues to sample.
 * A cut that is requested while the child still writes is made afterwards. A
 * file appears under its name when it is complete, so a prof that is killed
 * loses only the current profile.
 *
 * If only the last segments are kept, only older files of this recording are
 * removed. If the disk is full, the oldest file is removed to make room. A
 * segment that still cannot be written is lost, reported and counted, and the
 * recording continues.
 *
 * With --every, segments are in a directory (segments/store.h) and start at
 * multiples of their length on the clock: segments of a minute start at full
 * minutes. The segments of an hour that is over are merged (segment_merging.h).
 * Their frames are symbolized here, by a kept symbolizer, before the child is
 * forked; otherwise each child would have to read the same files. The address
 * spaces and the symbolizer are replaced by new ones whenever they have grown,
 * because processes may come and go for days.
 *
 * The size of a profile is the estimated size of its files (file_estimate.h).
 */
#ifndef PROF_CMD_RECORD_ROTATION_H
#define PROF_CMD_RECORD_ROTATION_H

#include "cmd/outputs.h"
#include "cmd/record/file_estimate.h"
#include "cmd/record/forked_writer.h"
#include "cmd/record/kept_symbolizer.h"
#include "cmd/record/recording.h"
#include "cmd/record/rotation_options.h"
#include "cmd/record/segment_merging.h"
#include "cmd/record/segments.h"
#include "record/history.h"
#include "segments/store.h"

struct rotation {
	/* Set before rotation_open(). Borrowed. */
	const struct rotation_options *options;
	struct recording *recording;
	const struct output_options *output;
	const struct push *push;
	struct kept_symbolizer *symbolizer; /* used only with --every */
	/*
	 * Called in a forked child. Completes the profile. reason: why it is
	 * written; NULL if the options say so. is_symbolized: the kept
	 * symbolizer has symbolized it.
	 */
	void (*complete)(void *user, const char *reason, bool is_symbolized);
	/* Called when a profile has been written to its files. */
	void (*has_written)(void *user);
	void *user;

	const struct outputs *at_end; /* outputs of the last profile */
	struct history *history;      /* of a flight recorder, otherwise NULL */
	struct segment_store store;   /* with --every */
	struct segment_merging merging;
	struct forked_writer writer;
	struct outputs outputs; /* the files that the child writes */
	char *reason;		/* why the child writes */
	char *next_reason;	/* why the waiting cut was requested */
	bool is_wanted;		/* a cut is waiting for the child to end */
	uint64_t cut_ns;	/* when the current segment ends, if it has a fixed length */
	bool is_symbolized;	/* the child's profile is symbolized */
	uint64_t checked_ns;	/* when sizes and triggers were checked last */
	uint64_t named_unix_ns; /* the time in the last file names */
	struct trigger_reader reader;
	uint64_t trigger_count; /* number of handled trigger events */
	uint64_t rest_ns;	/* further trigger events are ignored until then */

	struct file_estimate estimate;
	struct segments segments;
	uint64_t written, failed;
};

/* Returns true if the recording has several profiles. */
bool rotation_is_on(const struct rotation_options *options);

/*
 * Opens and locks the directory of --every, which is the only output, and
 * replaces it by the name of its next segment. Call it before outputs are
 * opened.
 */
MUST_CHECK struct error *rotation_open_store(struct rotation *rotation,
					     struct output_options *options);
/* Checks that the outputs are files of profiles. Call it before sampling. */
MUST_CHECK struct error *rotation_open(struct rotation *rotation, const struct outputs *outputs);
void rotation_deinit(struct rotation *rotation);
/* Call it when sampling has started. */
void rotation_begin(struct rotation *rotation);
/* Returns the clock_now_ns() at which rotation_step() has something to do. */
uint64_t rotation_next_ns(const struct rotation *rotation);
/* Makes a cut if it is due. Call it between two runs of the loop. */
void rotation_step(struct rotation *rotation);
/* Makes a cut now, or as soon as the last cut has been written. */
void rotation_cut(struct rotation *rotation, const char *reason);
/*
 * Starts a child that writes the profile so far, like forked_writer_start(),
 * and starts the next profile. In the child, history_gather() makes the profile
 * of a flight recorder. All records up to now have been read.
 */
MUST_CHECK struct error *
rotation_fork(struct rotation *rotation, struct forked_writer *writer, int (*child)(void *user),
	      void (*ended)(void *user, const struct forked_child_end *end), void *user);
/* Discards the samples so far. */
void rotation_forget(struct rotation *rotation);
/* Waits for the child. Call it when sampling has ended; the caller then
 * completes and writes the last profile. */
void rotation_end(struct rotation *rotation);
/* Opens the outputs of the last profile, after rotation_end(). They replace
 * `outputs`. */
MUST_CHECK struct error *rotation_open_last(struct rotation *rotation, struct outputs *outputs);
/* Prints the messages about all profiles. is_written: the last one was written. */
void rotation_finish(struct rotation *rotation, bool is_written);

#endif
