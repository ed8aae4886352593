/*
 * The lines of a source file that a profile names.
 */
#ifndef PROF_CMD_SOURCE_TEXT_H
#define PROF_CMD_SOURCE_TEXT_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

struct source_text {
	char *path;		  /* where it was found */
	uint64_t changed_unix_ns; /* 0: unknown */
	char **lines;		  /* without their ends; long ones are cut */
	uint32_t count;
	struct arena arena; /* of lines */
};

/*
 * Reads the source file of a path as compilers write it. It is looked for below `directory`: under
 * the whole path, then under shorter and shorter ends of it. If directory is NULL: under its own
 * path, then below the current directory. Fails if there is no such file or it is not text.
 *
 * user: with whose rights its own path is opened (profile/source_users.h). Below the current
 * directory only names by prof's own user are looked up. Components ".." do not lead out of a
 * directory.
 */
MUST_CHECK struct error *source_text_read(const char *path, const char *directory, uid_t user,
					  struct source_text *ret);
/* Reads a source file that was downloaded; takes fd. path: as the profile has it. */
MUST_CHECK struct error *source_text_read_download(int fd, const char *path,
						   struct source_text *ret);
/* A zeroed one has nothing to free. */
void source_text_deinit(struct source_text *text);

/* A line, counted from 1; NULL after the last one, and of a zeroed text. */
const char *source_text_line(const struct source_text *text, uint32_t number);

#endif
