/*
 * The directory that prof record --every writes: locks it, names new segments and removes old ones.
 *
 * One recorder at a time writes into a directory. It holds a lock of the directory (flock(2)),
 * which the kernel releases when the recorder ends, in whatever way. The store removes nothing but
 * segments, which it knows by their names, and the hidden files of recorders that were killed,
 * where the file system lacks O_TMPFILE (output/file.h). Segments of other users do not count,
 * which a message says once (output/directory.h).
 */
#ifndef PROF_CMD_SEGMENT_STORE_H
#define PROF_CMD_SEGMENT_STORE_H

#include "cmd/segment_files.h"

struct segment_store {
	struct output_directory directory; /* its path is NULL: there is none */
	int lock;
	struct retention retention;
	bool has_told;	  /* of segments of others */
	uint64_t removed; /* segments that were removed because of the retention */
};

/* Makes the directory if it is missing, locks it, and removes what killed recorders have left
 * there: hidden files, and segments whose samples are in merged ones. The caller has zeroed the
 * store and set its retention. */
MUST_CHECK struct error *segment_store_open(struct segment_store *store, const char *path);
void segment_store_close(struct segment_store *store);
/* To be called in a forked child: closes its copy of the lock, which would keep other recorders
 * from the directory until the child has ended. */
void segment_store_fork(struct segment_store *store);

/* A template for output_open(), of a new segment that begins at unix_ns. If a segment of that
 * second is there, alone or in a merged one, because the clock was set back, it is the next free
 * second. The caller frees it. */
char *segment_store_template(struct segment_store *store, uint64_t unix_ns);
/* Removes the oldest segments as the retention says, by their age and by the size of all. */
void segment_store_retain(struct segment_store *store, uint64_t now_unix_ns);
/* Removes the oldest segment, to make room. ret_name: its name. False: the directory has no
 * segment, or it could not be removed. */
bool segment_store_remove_oldest(struct segment_store *store, char ret_name[SEGMENT_NAME_BYTES]);

#endif
