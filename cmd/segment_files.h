/*
 * The segments in a directory, as their names tell (segment_name.h); other files are left out.
 * prof record --every writes them (segment_store.h), and commands that read a directory choose
 * among them (segment_range.h).
 */
#ifndef PROF_CMD_SEGMENT_FILES_H
#define PROF_CMD_SEGMENT_FILES_H

#include "base/error.h"
#include "cmd/segment_name.h"

#include <stddef.h>
#include <stdint.h>

struct segment_file {
	char name[SEGMENT_NAME_BYTES];
	uint64_t unix_ns; /* begins then */
	uint64_t bytes;
};

struct segment_files {
	struct segment_file *items; /* the oldest first */
	size_t count, room;
};

MUST_CHECK struct error *segment_files_read(const char *directory, struct segment_files *ret);
void segment_files_deinit(struct segment_files *files);

/* What is kept in a directory. */
struct retention {
	uint64_t keep_ns;   /* since the segment's begin; 0: any age */
	uint64_t max_bytes; /* of all of them; 0: any size */
};

/*
 * How many of the oldest segments are to be removed at this time. The newest one always stays. A
 * segment of the future, which a clock left that has been set back since, has no age.
 */
size_t segment_files_expired(const struct segment_files *files, const struct retention *retention,
			     uint64_t now_unix_ns);

#endif
