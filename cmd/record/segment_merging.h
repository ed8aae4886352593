/*
 * Merges minutes into hours. In the directory of prof record --every, the
 * segments of each UTC hour that is over are merged into one file.
 *
 * The segments of an hour have most symbols, locations and stacks in common, so
 * the merged file has a third of their size and is read in a fraction of the
 * time. It is a segment like any other: it has the name of its first segment,
 * and keeps the time of each sample to a millisecond. Its head lists the
 * segments that it contains (segments/heads.h).
 *
 * A child of idle priority merges while prof continues to sample. It ends with
 * prof. It writes the merged file to the disk, renames it over its first
 * segment, and removes the others. If prof is killed in between, segments
 * remain next to the file that contains them; readers skip them, and
 * segment_store_open() removes them.
 *
 * These segments are not merged:
 *
 * - segments written by another program, another command line of prof, or
 *   another user
 * - segments with data that cannot be summed: remarks, the objects that threads
 *   waited for, counters
 * - with --push, an hour that was not delivered; otherwise segments of which a
 *   part was delivered (push/backlog.h)
 *
 * Segments that need more than MERGED_MEMORY_BYTES become several files. If
 * segments are kept for less than two hours, nothing is merged.
 */
#ifndef PROF_CMD_RECORD_SEGMENT_MERGING_H
#define PROF_CMD_RECORD_SEGMENT_MERGING_H

#include "cmd/push/push.h"
#include "cmd/record/forked_writer.h"
#include "cmd/record/recording.h"
#include "segments/files.h"

struct segment_merging {
	/* Set before the first step. Borrowed. */
	struct recording *recording;
	const struct push *push; /* NULL if nothing is pushed */
	const struct retention *retention;
	const struct output_directory *directory;

	struct forked_writer writer;
	uint64_t hour; /* the hour since 1970 of the last check */
};

/* Starts to merge if an hour is over. Call it when a segment was written. */
void segment_merging_step(struct segment_merging *merging, uint64_t now_unix_ns);
/* Ends the child. Segments that it has not merged stay as they are. */
void segment_merging_stop(struct segment_merging *merging);

#endif
