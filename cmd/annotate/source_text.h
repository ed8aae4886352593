/*
 * Reads the lines of a source file that a profile names.
 */
#ifndef PROF_CMD_ANNOTATE_SOURCE_TEXT_H
#define PROF_CMD_ANNOTATE_SOURCE_TEXT_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct source_text {
	char *path;		  /* where it was found */
	uint64_t changed_unix_ns; /* 0 if unknown */
	char **lines;		  /* without line ends; long lines are cut */
	uint32_t count;
	struct arena arena; /* owns the lines */
};

/*
 * Reads the source file with a path as compilers write it. The file is searched
 * for below `directory`, first under the whole path, then under ever shorter
 * ends of it. If directory is NULL, it is searched for under its own path, then
 * below the current directory. Fails if there is no such file or it is not
 * text.
 *
 * user: the user with whose permissions the path is opened
 * (profile/source_users.h). Files below the current directory are found only if
 * prof's own user named them. Components ".." do not lead out of a directory.
 */
MUST_CHECK struct error *source_text_read(const char *path, const char *directory, uid_t user,
					  struct source_text *ret);
/* Reads a downloaded source file. Takes fd. path is the name in the profile. */
MUST_CHECK struct error *source_text_read_download(int fd, const char *path,
						   struct source_text *ret);
/* A zeroed text has nothing to free. */
void source_text_deinit(struct source_text *text);

/* Returns a line, counted from 1. Returns NULL after the last line, and for a
 * zeroed text. */
const char *source_text_line(const struct source_text *text, uint32_t number);

#endif
