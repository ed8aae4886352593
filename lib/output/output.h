/*
 * An output: a file that a profile is written to. output_open() checks that it
 * can be written, so that a recording does not fail at its end.
 *
 * A regular file gets its name when it is complete (output/file.h). Its mode is
 * 0600, and under sudo its owner is the user who called sudo. The previous file
 * becomes FILE.old. Symbolic links are followed (output/place.h).
 *
 * Anything else that exists (a FIFO, a device, a descriptor such as /dev/fd/3,
 * "-" for stdout) is written directly. Its format is folded stacks unless the
 * name or an option selects another one.
 */
#ifndef PROF_OUTPUT_OUTPUT_H
#define PROF_OUTPUT_OUTPUT_H

#include "base/error.h"
#include "format/format.h"
#include "output/directory.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Takes ownership of the error. */
typedef void output_tell(struct error *err);

struct output {
	const struct output_directory *directory; /* as in output_open() */
	/* The requested name. %p and %t are replaced, but not %n. */
	char *pattern;
	char *path;   /* the name; "-" for stdout */
	char *target; /* path without symbolic links */
	const struct format *format;
	bool is_file;	    /* a regular file; else written directly */
	bool is_written;    /* complete and published */
	struct stat folder; /* directory of target, if it is a file */
	int fd;		    /* written directly; -1 if it is a file, or after it was written */
	int checkpoint;	    /* the last file that output_take_prepared() found; -1 for none */
	bool is_settled;    /* path is final because a file was prepared for it */
	bool is_growing;    /* output_publish_growing() was called */
	output_tell *tell;

	/* Only valid while a file is written. */
	struct output_place place;
	struct output_file file;
};

/*
 * Checks an output without creating a file.
 *
 * Borrows directory, which will contain the file. If it is NULL, the path of
 * template determines the directory. template is a name that can contain %p
 * (prof's pid), %t (time), %n (the first number that gives a new name) and %%.
 * The pattern of another output is a valid template. If format is NULL, the
 * extension selects it. tell is called if the previous file cannot be kept.
 * Fails with a usage error for an unknown format, and for a binary format on a
 * terminal.
 */
MUST_CHECK struct error *output_open(const struct output_directory *directory, const char *template,
				     const struct format *format, output_tell *tell,
				     struct output *ret);
/* Returns the path that output_open() would use for a template now. The caller
 * frees it. */
char *output_path(const char *template);
/* Frees the output and removes its temporary file, if any. */
void output_discard(struct output *output);

/* Writes the profile and publishes the file. */
MUST_CHECK struct error *output_write(struct output *output, const struct profile *profile,
				      const struct format_options *options);
/* Like output_write(), for contents that the callback writes. */
typedef struct error *output_writer(void *user, const struct format *format, FILE *out);
MUST_CHECK struct error *output_write_from(struct output *output, output_writer *write, void *user);

/*
 * For a file that the caller writes. output_begin() creates the file; the
 * caller owns *ret_fd. output_end() publishes it, unless err is set. It takes
 * ownership of err and returns it with the name added.
 */
MUST_CHECK struct error *output_begin(struct output *output, int *ret_fd);
MUST_CHECK struct error *output_end(struct output *output, struct error *err);

/*
 * After an error, writes the profile to a different path (output/rescue.h).
 * profile is NULL if the caller has written the file itself. Returns the path,
 * which the caller frees, or NULL if that failed, too.
 */
char *output_write_elsewhere(struct output *output, const struct profile *profile,
			     const struct format_options *options);

/*
 * For a file that a child writes while the recording continues. prof calls
 * output_prepare() and forks. The child calls output_write_prepared(), which it
 * may repeat after an error. After the child has exited, prof calls
 * output_take_prepared(), which returns whether the child has published the
 * file. If so, the file is open as `checkpoint`. The next prepared file, or
 * that of output_write(), replaces it.
 */
MUST_CHECK struct error *output_prepare(struct output *output);
MUST_CHECK struct error *output_write_prepared(struct output *output, const struct profile *profile,
					       const struct format_options *options);
bool output_take_prepared(struct output *output);
/* Publishes the file of output_begin() while the caller is still writing it. */
MUST_CHECK struct error *output_publish_growing(struct output *output);

/* Whether one output would overwrite the other. */
bool output_is_same(const struct output *output, const struct output *other);

/* Whether the path is "-" or another name of stdout. */
bool output_is_stdout(const char *path);

#endif
