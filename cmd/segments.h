/*
 * The files that a recording has written so far, in segments: the outputs of one profile. Old ones
 * can be removed; a file is removed only if it is still the one that was written, by its device and
 * inode.
 */
#ifndef PROF_CMD_SEGMENTS_H
#define PROF_CMD_SEGMENTS_H

#include "cmd/outputs.h"

struct segment;

struct segments {
	/* Set by the caller: otherwise only sizes are remembered. */
	bool are_removable;

	struct segment *items; /* that are there; the oldest first */
	size_t count, room;
	uint64_t bytes; /* of all that were written and not removed */
	uint64_t removed;
};

void segments_deinit(struct segments *segments);

/* Adds the outputs that a child has written (output_take_prepared()). Returns their bytes. */
uint64_t segments_take(struct segments *segments, struct outputs *outputs);
/* Removes all but the last ones. */
void segments_keep(struct segments *segments, uint64_t count);
/* False: there is none, or it could not be removed. */
bool segments_remove_oldest(struct segments *segments);
/* Forgets the oldest ones that a forked child has removed. */
void segments_look_again(struct segments *segments);

#endif
