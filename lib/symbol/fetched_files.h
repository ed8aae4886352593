/*
 * Debug files that were fetched, by build-id, and openers that find them before those of this
 * machine.
 */
#ifndef PROF_SYMBOL_FETCHED_FILES_H
#define PROF_SYMBOL_FETCHED_FILES_H

#include "base/cleanup.h"
#include "elf/debugfile.h"

#include <stdbool.h>

struct fetched_file {
	struct build_id build_id; /* that was asked for; the file is not believed to have it */
	int fd;			  /* -1: it was not to be had */
	char *path;
};

struct fetched_files {
	struct fetched_file *items;
	size_t count, room;
};

/* Takes fd and path. */
void fetched_files_add(struct fetched_files *files, const struct build_id *id, int fd, char *path);
/* NULL: it was not asked for. */
const struct fetched_file *fetched_files_find(const struct fetched_files *files,
					      const struct build_id *id);
void fetched_files_deinit(struct fetched_files *files);

/* The opener of one module; the structs are borrowed. */
struct fetched_opener {
	const struct fetched_files *files;
	struct debugfile_opener local; /* of this machine */
	struct build_id own;	       /* the module's build-id */
	/* Of a supplementary file that was asked for and is not here; len 0: none. */
	struct build_id missing;
};

struct debugfile_opener fetched_opener(struct fetched_opener *opener);

#endif
