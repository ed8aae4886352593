/*
 * The segments in a directory, as their names tell (segment_name.h); other files are left out.
 * prof record --every writes them (segment_store.h), and commands that read a directory choose
 * among them (segment_range.h).
 */
#ifndef PROF_CMD_SEGMENT_FILES_H
#define PROF_CMD_SEGMENT_FILES_H

#include "cmd/segment_name.h"
#include "output/directory.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct segment_file {
	char name[SEGMENT_NAME_BYTES];
	uint64_t unix_ns; /* begins then */
	uint64_t bytes;
	/* As its head tells (segment_heads.h); before it is read, those of a file not merged. */
	uint64_t last_unix_ns;	   /* the last segment that it was merged of begins then */
	uint64_t start_ns, end_ns; /* exactly; 0: unknown, both */
	uint64_t *merged_s;	   /* the segments that it was merged of: Unix seconds */
	size_t merged_count;	   /* 0: it was not merged */
	ino_t inode;
};

struct segment_files {
	struct segment_file *items; /* the oldest first */
	size_t count, room;
	size_t of_others; /* segments that are not files of the directory (output/directory.h) */
};

MUST_CHECK struct error *segment_files_read(const struct output_directory *directory,
					    struct segment_files *ret);
void segment_files_deinit(struct segment_files *files);

/* Whether there is one of this name. */
bool segment_files_has(const struct segment_files *files, const char *name);

/* What is kept in a directory. */
struct retention {
	uint64_t keep_ns;   /* since the begin of the last segment in it; 0: any age */
	uint64_t max_bytes; /* of all of them; 0: any size */
};

/*
 * How many of the oldest segments are to be removed at this time. The newest one always stays. A
 * segment of the future, which a clock left that has been set back since, has no age.
 */
size_t segment_files_expired(const struct segment_files *files, const struct retention *retention,
			     uint64_t now_unix_ns);

#endif
