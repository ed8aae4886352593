/*
 * A set of fetched debug files by build-id, and openers that search it before
 * the debug files of this machine.
 */
#ifndef PROF_SYMBOL_FETCHED_FILES_H
#define PROF_SYMBOL_FETCHED_FILES_H

#include "base/cleanup.h"
#include "elf/debugfile.h"

#include <stdbool.h>

struct fetched_file {
	/* The requested build-id. The file's actual build-id is not trusted. */
	struct build_id build_id;
	int fd; /* -1 if the file is not available */
	char *path;
};

struct fetched_files {
	struct fetched_file *items;
	size_t count, room;
};

/* Takes ownership of fd and path. */
void fetched_files_add(struct fetched_files *files, const struct build_id *id, int fd, char *path);
/* Returns NULL if the file was not requested. */
const struct fetched_file *fetched_files_find(const struct fetched_files *files,
					      const struct build_id *id);
void fetched_files_deinit(struct fetched_files *files);

/* The debug file opener of one module. The structs are borrowed. */
struct fetched_opener {
	const struct fetched_files *files;
	struct debugfile_opener local; /* opens the files of this machine */
	struct build_id own;	       /* the module's build-id */
	/*
	 * Build-id of a supplementary file that was requested and is not
	 * available. Its len is 0 if there is none.
	 */
	struct build_id missing;
};

struct debugfile_opener fetched_opener(struct fetched_opener *opener);

#endif
