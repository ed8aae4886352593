/*
 * A file that is written completely before it gets its name.
 *
 * It has no name while it is written (O_TMPFILE, open(2)), so that nothing is left if prof is
 * killed; file systems that do not support it get a hidden file, ".prof.NUMBER". Its mode is 0600.
 * Under sudo it belongs to the calling user.
 */
#ifndef PROF_OUTPUT_FILE_H
#define PROF_OUTPUT_FILE_H

#include "output/place.h"

#include <stdbool.h>
#include <sys/stat.h>

struct output_file {
	int fd;	    /* -1: none */
	char *name; /* hidden, in the place's directory; NULL: none */
	int folder; /* of name; else -1 */
};

#define OUTPUT_FILE_INIT                                                                           \
	{                                                                                          \
		.fd = -1, .folder = -1                                                             \
	}

/* Creates it in the directory of the place. */
MUST_CHECK struct error *output_file_create(const struct output_place *place,
					    struct output_file *ret);
/* Closes it, and removes it if it has no name but a hidden one. */
void output_file_discard(struct output_file *file);

/*
 * Gives it the name of the place. A file that has the name is replaced: the name always leads to a
 * complete file, the old one or the new one. The old file becomes NAME.old, unless it is the one
 * that is open as `own`, which is prof's own; -1: none. *old_lost: the reason if the old file could
 * not be kept; the new file gets its name all the same.
 */
MUST_CHECK struct error *output_file_publish(struct output_file *file,
					     const struct output_place *place, int own,
					     struct error **old_lost);

/* The same, but the former file is gone. */
MUST_CHECK struct error *output_file_replace(struct output_file *file,
					     const struct output_place *place);

/* Removes the file of this path if it is the one that had this stat(2). False: it is another one,
 * or it cannot be removed. */
bool output_file_remove(const char *path, const struct stat *st);

/* Whether a name is one of a hidden file, which a prof that was killed has left. */
bool output_file_is_hidden_name(const char *name);

/* Whether the file that is open as fd has the name of the place. */
bool output_file_is_at(int fd, const struct output_place *place);

#endif
