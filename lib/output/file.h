/*
 * A file that gets its name only when it is complete.
 *
 * It has no name while it is written (O_TMPFILE, open(2)), so nothing remains
 * if prof is killed. On file systems without O_TMPFILE it is a hidden file,
 * ".prof.NUMBER". Its mode is 0600. Under sudo it is owned by the user who
 * called sudo.
 */
#ifndef PROF_OUTPUT_FILE_H
#define PROF_OUTPUT_FILE_H

#include "output/place.h"

#include <stdbool.h>
#include <sys/stat.h>

struct output_file {
	int fd;	    /* -1 for none */
	char *name; /* the hidden name in the place's directory; NULL for none */
	int folder; /* directory of the hidden name; else -1 */
};

#define OUTPUT_FILE_INIT                                                                           \
	{                                                                                          \
		.fd = -1, .folder = -1                                                             \
	}

/* Creates the file in the directory of the place. */
MUST_CHECK struct error *output_file_create(const struct output_place *place,
					    struct output_file *ret);
/* Closes the file. Removes it if it has only a hidden name. */
void output_file_discard(struct output_file *file);

/*
 * Gives the file the name of the place, atomically: the name always refers to a
 * complete file, the old one or the new one.
 *
 * An existing file is renamed to NAME.old, unless it is the file that is open
 * as `own`, which prof has written itself; -1 for none. If the old file could
 * not be kept, sets *old_lost to the reason and still publishes the new file.
 */
MUST_CHECK struct error *output_file_publish(struct output_file *file,
					     const struct output_place *place, int own,
					     struct error **old_lost);

/* Like output_file_publish(), but does not keep the old file. */
MUST_CHECK struct error *output_file_replace(struct output_file *file,
					     const struct output_place *place);

/* Removes the file at this path if it is the one that `st` describes. Returns
 * false if it is a different file, or if it cannot be removed. */
bool output_file_remove(const char *path, const struct stat *st);

/* Whether a name is that of a hidden file, which a killed prof may have
 * left. */
bool output_file_is_hidden_name(const char *name);

/* Whether the file that is open as fd has the name of the place. */
bool output_file_is_at(int fd, const struct output_place *place);

#endif
