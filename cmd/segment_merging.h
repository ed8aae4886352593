/*
 * Makes hours out of minutes: in the directory of prof record --every, the segments of each hour
 * of UTC that is over are merged into one file.
 *
 * Segments of an hour have most names, locations and stacks in common, so the hour is a third of
 * their size, and is read in a fraction of their time. It is a segment like any other: it has the
 * name of its first segment, and tells to a millisecond when each sample was taken. Its head tells
 * which segments it contains (segment_heads.h).
 *
 * A child of idle priority merges while prof samples on; it ends with prof. It writes the merged
 * file to the disk, gives it the name of the first segment, which it replaces, and removes the
 * others. A prof that is killed in between leaves segments beside the file that contains them;
 * readers leave them out, and segment_store_open() removes them.
 *
 * Not merged are: segments that another program or another command line of prof has written, or
 * another user; those that hold what a sum cannot (remarks, what threads waited for, counters);
 * with --push an hour that was not delivered, and otherwise segments of which a part was delivered
 * (push/backlog.h); more than MERGED_MEMORY_BYTES, which become several files. Where segments stay
 * for less than two hours, none are merged.
 */
#ifndef PROF_CMD_SEGMENT_MERGING_H
#define PROF_CMD_SEGMENT_MERGING_H

#include "cmd/forked_writer.h"
#include "cmd/push.h"
#include "cmd/recording.h"
#include "cmd/segment_files.h"

struct segment_merging {
	/* Set before the first step, borrowed. */
	struct recording *recording;
	const struct push *push; /* NULL: nothing is pushed */
	const struct retention *retention;
	const struct output_directory *directory;

	struct forked_writer writer;
	uint64_t hour; /* of the last look, since 1970 */
	pid_t recorder;
};

/* A segment was written: begins to merge if an hour is over. */
void segment_merging_step(struct segment_merging *merging, uint64_t now_unix_ns);
/* Ends the child: what it has not merged stays as it is. */
void segment_merging_stop(struct segment_merging *merging);

#endif
