/*
 * An output: a file that a profile is written into. output_open() checks that it can be written, so
 * that a recording does not fail at its end.
 *
 * A regular file is written completely before it gets its name, with mode 0600 (output/file.h); the
 * previous file becomes FILE.old. Under sudo the file belongs to the user who called it. Symbolic
 * links are followed (output/place.h). Anything else that exists (a FIFO, a device, a descriptor
 * such as /dev/fd/3, "-" for stdout) is written directly; its format is folded stacks unless the
 * name or an option says otherwise.
 */
#ifndef PROF_CMD_OUTPUT_H
#define PROF_CMD_OUTPUT_H

#include "base/error.h"
#include "format/format.h"
#include "output/directory.h"

#include <stdbool.h>
#include <sys/stat.h>

struct output {
	const struct output_directory *directory; /* as in output_open() */
	char *pattern; /* the requested name: %p and %t are replaced, %n is not */
	char *path;    /* the name; "-": stdout */
	char *target;  /* path without symbolic links */
	const struct format *format;
	bool is_file;	    /* a regular file; else written directly */
	bool is_written;    /* complete and in its place */
	struct stat folder; /* of target, if it is a file */
	int fd;		    /* what is written directly; -1: a file, or it has been written */
	int checkpoint;	    /* the file that output_take_prepared() found last; -1: none */
	bool is_settled;    /* path is final: a file was prepared for it */
	bool is_growing;    /* output_publish_growing() was called */

	/* While a file is written. */
	struct output_place place;
	struct output_file file;
};

/*
 * Creates no file yet. directory: that the file is in, borrowed; NULL: where its path leads.
 * template: a name that can contain %p (prof's pid), %t (time), %n (the first number that gives a
 * new name) and %%; the pattern of another output is also a template. format: NULL: by the
 * extension. *is_usage: the error is about the command line, not about the file.
 */
MUST_CHECK struct error *output_open(const struct output_directory *directory, const char *template,
				     const struct format *format, struct output *ret,
				     bool *is_usage);
/* The path that a template gives, as output_open() would find it now. To be freed. */
char *output_path(const char *template);
/* Frees the output and removes its temporary file, if any. */
void output_discard(struct output *output);

/* Writes the profile; a file gets its name. Prints a warning if the previous file is lost. */
MUST_CHECK struct error *output_write(struct output *output, const struct profile *profile,
				      const struct format_options *options);
/* The same of what the callback writes. */
typedef struct error *output_writer(void *user, const struct format *format, FILE *out);
MUST_CHECK struct error *output_write_from(struct output *output, output_writer *write, void *user);

/*
 * For a file that the caller writes. output_begin() creates it; the caller owns *ret_fd.
 * output_end() gives it its name, unless err is an error; takes err and returns it with the name.
 */
MUST_CHECK struct error *output_begin(struct output *output, int *ret_fd);
MUST_CHECK struct error *output_end(struct output *output, struct error *err);

/*
 * After an error: writes the profile elsewhere (output_rescue.h). profile: NULL for the file that
 * the caller wrote. Returns the path, to be freed, or NULL.
 */
char *output_write_elsewhere(struct output *output, const struct profile *profile,
			     const struct format_options *options);

/*
 * A file that a child writes while the recording goes on. prof forks between output_prepare() and
 * output_write_prepared(), which the child may call again after an error; when that has ended, prof
 * calls output_take_prepared(), which returns whether the file is in its place. It is open as
 * `checkpoint` then, and the next one replaces it, as does output_write().
 */
MUST_CHECK struct error *output_prepare(struct output *output);
MUST_CHECK struct error *output_write_prepared(struct output *output, const struct profile *profile,
					       const struct format_options *options);
bool output_take_prepared(struct output *output);
/* The file of output_begin() gets its name while the caller still writes it. */
MUST_CHECK struct error *output_publish_growing(struct output *output);

/* True if one output would overwrite the other. */
bool output_is_same(const struct output *output, const struct output *other);

/* True for "-" and other names of stdout. */
bool output_is_stdout(const char *path);

#endif
