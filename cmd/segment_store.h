/*
 * The directory that prof record --every writes: its lock, the names of new segments, and what is
 * removed from it.
 *
 * One recorder writes into a directory at a time: it holds flock(2) of the directory, which ends
 * with it, however it ends. Only segments are ever removed, by their names, and what recorders that
 * were killed have left: hidden files without O_TMPFILE (output_file.h).
 */
#ifndef PROF_CMD_SEGMENT_STORE_H
#define PROF_CMD_SEGMENT_STORE_H

#include "cmd/segment_files.h"

struct segment_store {
	char *path; /* NULL: there is no directory */
	int lock;
	struct retention retention;
	uint64_t removed; /* segments, as too old or too many */
};

/* Makes the directory if it is missing, locks it, and removes what is left over there, segments
 * that merged ones contain among it. The store was zeroed but for the retention. */
MUST_CHECK struct error *segment_store_open(struct segment_store *store, const char *path);
void segment_store_close(struct segment_store *store);
/* In a forked child: the lock is that of the parent alone. A child that keeps it keeps others from
 * the directory until it has ended. */
void segment_store_fork(struct segment_store *store);

/* A template for output_open() of a new segment that begins then: where that second has one, alone
 * or in a merged one, the clock was set back, and the next free second is taken. To be freed. */
char *segment_store_template(const struct segment_store *store, uint64_t unix_ns);
/* Removes what the retention says. */
void segment_store_retain(struct segment_store *store, uint64_t now_unix_ns);
/* To make room. ret_name: of what was removed. False: there is none, or it could not be removed. */
bool segment_store_remove_oldest(struct segment_store *store, char ret_name[SEGMENT_NAME_BYTES]);

#endif
