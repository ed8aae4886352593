/*
 * Lists the segments in a directory. A file is a segment if its name has the
 * right format (segments/name.h); other files are ignored.
 *
 * prof record --every writes segments (segments/store.h). Commands that read
 * such a directory select segments by time (segments/range.h).
 */
#ifndef PROF_SEGMENTS_FILES_H
#define PROF_SEGMENTS_FILES_H

#include "output/directory.h"
#include "segments/name.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Takes a message for the user. */
typedef __attribute__((format(printf, 1, 2))) void segment_tell(const char *fmt, ...);

struct segment_file {
	char name[SEGMENT_NAME_BYTES];
	uint64_t unix_ns; /* start of the segment */
	uint64_t bytes;
	/* The members below come from the segment's head (segments/heads.h).
	 * Until the head is read, they have the values of a segment that was
	 * not merged. */
	uint64_t last_unix_ns;	   /* start of the last of the merged segments */
	uint64_t start_ns, end_ns; /* exact times; both are 0 if unknown */
	uint64_t *merged_s;	   /* start times of the merged segments, in Unix seconds */
	size_t merged_count;	   /* 0 if it is not a merged segment */
	ino_t inode;
};

struct segment_files {
	struct segment_file *items; /* oldest first */
	size_t count, room;
	size_t of_others; /* segments that do not belong to the directory (output/directory.h) */
};

MUST_CHECK struct error *segment_files_read(const struct output_directory *directory,
					    struct segment_files *ret);
void segment_files_deinit(struct segment_files *files);

/* Whether the list has a segment of this name. */
bool segment_files_has(const struct segment_files *files, const char *name);

/* Limits for the segments in a directory. */
struct retention {
	/* Maximum age; 0 for no limit. The age of a merged file is that of the
	 * last segment in it, from its start. */
	uint64_t keep_ns;
	uint64_t max_bytes; /* maximum size of all segments; 0 for no limit */
};

/*
 * Returns how many of the oldest segments have expired. The newest one never
 * expires. A segment from the future, written before the clock was set back,
 * has no age.
 */
size_t segment_files_expired(const struct segment_files *files, const struct retention *retention,
			     uint64_t now_unix_ns);

#endif
