/*
 * The directory that prof record --every writes: locks it, names new segments
 * and removes old ones.
 *
 * One recorder at a time writes to a directory. It holds a lock on the
 * directory (flock(2)), which the kernel releases when the recorder exits or is
 * killed. The store removes only segments, which it identifies by name, and the
 * hidden files of killed recorders on file systems without O_TMPFILE
 * (output/file.h). Segments of other users are ignored and reported once
 * (output/directory.h).
 */
#ifndef PROF_SEGMENTS_STORE_H
#define PROF_SEGMENTS_STORE_H

#include "segments/files.h"

struct segment_store {
	struct output_directory directory; /* its path is NULL if none is open */
	int lock;
	struct retention retention;
	segment_tell *tell;
	bool has_told;	  /* segments of other users were reported */
	uint64_t removed; /* segments that were removed because of the retention */
};

/*
 * Creates the directory if it is missing, locks it, and removes what killed
 * recorders have left: hidden files, and segments that were merged. The caller
 * must zero the store and set retention and tell.
 */
MUST_CHECK struct error *segment_store_open(struct segment_store *store, const char *path);
void segment_store_close(struct segment_store *store);
/* Must be called in a forked child. Closes its copy of the lock, which would
 * otherwise block other recorders until the child exits. */
void segment_store_fork(struct segment_store *store);

/*
 * Returns a template for output_open(), for a new segment that starts at
 * unix_ns. If a segment of that second exists, alone or in a merged one,
 * because the clock was set back, the next free second is used. The caller
 * frees the template.
 */
char *segment_store_template(struct segment_store *store, uint64_t unix_ns);
/* Removes the oldest segments that exceed the maximum age or total size. */
void segment_store_retain(struct segment_store *store, uint64_t now_unix_ns);
/*
 * Removes the oldest segment to free space, and stores its name in ret_name.
 * Returns false if the directory has no segment, or if it could not be removed.
 */
bool segment_store_remove_oldest(struct segment_store *store, char ret_name[SEGMENT_NAME_BYTES]);

#endif
