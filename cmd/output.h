/*
 * The files a recording ends in: found out to be writable before it begins, whole when they appear,
 * and the old one kept as FILE.old.
 *
 * A regular file is written beside its place under a temporary name, mode 0600 (and given to the
 * user under sudo), and renamed when all is written. Anything else that exists (a FIFO, a device, a
 * descriptor as /dev/fd/3, "-" for stdout) is written into directly, as folded stacks when its name
 * does not tell.
 */
#ifndef PROF_CMD_OUTPUT_H
#define PROF_CMD_OUTPUT_H

#include "base/error.h"
#include "format/format.h"

#include <stdbool.h>

struct output {
	char *pattern; /* the name that was asked for, but for its number */
	char *path;    /* where it goes; "-": stdout */
	const struct format *format;
	bool is_file;	 /* else written into directly */
	bool is_written; /* whole, and in its place */
	char *temporary; /* while it is being written */
	int fd;
};

/*
 * template: may hold %p (prof's pid), %t (time), %n (the first number that makes a new name), %%;
 * the pattern of another output is one too. format: NULL follows the extension. *is_usage: the
 * error is about the words, not about the file.
 */
MUST_CHECK struct error *output_open(const char *template, const struct format *format,
				     struct output *ret, bool *is_usage);
/* What was not finished leaves nothing behind. */
void output_discard(struct output *output);

/* Writes, and puts the file in its place. */
MUST_CHECK struct error *output_write(struct output *output, const struct profile *profile,
				      const struct format_options *options);

/* For what is written piece by piece, into a file: where to. Then puts it in its place; takes err,
 * which says that it could not be written, and gives it back. */
MUST_CHECK struct error *output_begin(struct output *output, int *ret_fd);
MUST_CHECK struct error *output_end(struct output *output, struct error *err);

/* Would one be written over the other? */
bool output_is_same(const struct output *output, const struct output *other);

/* "-", or another name of it. */
bool output_is_stdout(const char *path);

#endif
