/*
 * Keeps track of the files that a recording has written. A segment is the
 * outputs of one profile. Old segments can be removed: a file is removed only
 * if its device and inode are those of the file that was written.
 */
#ifndef PROF_CMD_RECORD_SEGMENTS_H
#define PROF_CMD_RECORD_SEGMENTS_H

#include "cmd/outputs.h"

struct segment;

struct segments {
	/* Set by the caller. If false, only sizes are kept and nothing can be
	 * removed. */
	bool are_removable;

	struct segment *items; /* the segments that have not been removed, oldest first */
	size_t count, room;
	uint64_t bytes; /* their total size */
	uint64_t removed;
};

void segments_deinit(struct segments *segments);

/* Adds the outputs that a child has written (output_take_prepared()). Returns
 * their size. */
uint64_t segments_take(struct segments *segments, struct outputs *outputs);
/* Removes all except the last `count` segments. */
void segments_keep(struct segments *segments, uint64_t count);
/* Returns false if there is no segment or it could not be removed. */
bool segments_remove_oldest(struct segments *segments);
/* Forgets the oldest segments, which a forked child has removed. */
void segments_look_again(struct segments *segments);

#endif
