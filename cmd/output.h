/*
 * The files a recording ends in: found out to be writable before it begins, whole when they appear,
 * and the old one kept as FILE.old.
 *
 * A regular file is written beside its place under a temporary name, mode 0600 (and given to the
 * user under sudo), and renamed when all is written. Anything else that exists (a FIFO, a device,
 * "-" for stdout) is written into directly.
 */
#ifndef PROF_CMD_OUTPUT_H
#define PROF_CMD_OUTPUT_H

#include "base/error.h"
#include "format/format.h"

struct output {
	char *path; /* where it goes, its % replaced; "-": stdout */
	const struct format *format;
	char *temporary; /* NULL: written into directly */
	int fd;
};

/*
 * template: may hold %p (pid), %t (time), %n (the first number that makes a new name), %%. format:
 * NULL follows the extension. *is_usage: the error is about the words, not about the file.
 */
MUST_CHECK struct error *output_open(const char *template, const struct format *format,
				     struct output *ret, bool *is_usage);
/* What was not finished leaves nothing behind. */
void output_discard(struct output *output);

/* Writes, and puts the file in its place. */
MUST_CHECK struct error *output_write(struct output *output, const struct profile *profile,
				      const struct format_options *options);

bool output_is_stdout(const struct output *output);

#endif
