#include "output/output.h"

#include "base/alloc.h"
#include "base/text.h"
#include "output/rescue.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

/* Large, because outputs can have hundreds of megabytes. */
enum { BUFFER_BYTES = 256 * 1024 };

bool output_is_stdout(const char *path)
{
	return output_descriptor(path) == STDOUT_FILENO;
}

static void output_put_time(FILE *out)
{
	char text[32];
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
	fputs(text, out);
}

/* Replaces %p and %t, which are constant for the whole run. Does not replace %n
 * and %%. */
static char *output_pattern_of(const char *template)
{
	char *pattern = NULL;
	size_t len;
	FILE *out = open_memstream(&pattern, &len);

	for (const char *at = template; *at; at++) {
		if (text_begins(at, "%p")) {
			fprintf(out, "%d", getpid());
			at++;
		} else if (text_begins(at, "%t")) {
			output_put_time(out);
			at++;
		} else {
			fputc(*at, out);
			if (at[0] == '%' && at[1])
				fputc(*++at, out);
		}
	}
	fclose(out);
	return pattern;
}

static char *numbered(const char *pattern, unsigned number)
{
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	for (const char *at = pattern; *at; at++) {
		if (text_begins(at, "%n")) {
			fprintf(out, "%u", number);
			at++;
		} else {
			fputc(*at, out);
			at += at[0] == '%' && at[1] == '%';
		}
	}
	fclose(out);
	return path;
}

static bool has_number(const char *pattern)
{
	CLEANUP(free_ptr) char *one = numbered(pattern, 1), *two = numbered(pattern, 2);

	return strcmp(one, two) != 0;
}

/* Outputs with %n are never the same, because each gets a new number. */
bool output_is_same(const struct output *output, const struct output *other)
{
	if (!output->is_file || !other->is_file)
		return output_descriptor(output->path) >= 0
			       ? output_descriptor(output->path) == output_descriptor(other->path)
			       : !strcmp(output->path, other->path);
	return !strcmp(basename(output->target), basename(other->target)) &&
	       output->folder.st_dev == other->folder.st_dev &&
	       output->folder.st_ino == other->folder.st_ino && !has_number(output->pattern);
}

/* For a pattern with %n, uses the first number that gives a new name. */
static char *output_path_of(const char *pattern)
{
	for (unsigned number = 1;; number++) {
		char *path = numbered(pattern, number);

		if (access(path, F_OK) < 0 || !has_number(pattern))
			return path;
		free(path);
	}
}

static struct error *unknown_format(const char *path)
{
	CLEANUP(free_ptr) char *known = xstrdup("");

	for (const struct format *const *format = formats; *format; format++) {
		char *more = xasprintf("%s%s%s (%s)", known, *known ? ", " : "", (*format)->name,
				       (*format)->extensions[0]);

		free(known);
		known = more;
	}
	return error_hint(error_new("unknown format: the extension of %s is not known", path),
			  "give --format, or a known extension: %s", known);
}

char *output_path(const char *template)
{
	CLEANUP(free_ptr) char *pattern = output_pattern_of(template);

	return output_path_of(pattern);
}

/* Adds a hint if the directory or its disk is the reason. NULL stays NULL. */
static struct error *output_advise(struct error *err)
{
	switch (err ? error_number(err) : 0) {
	case EACCES:
	case EPERM:
	case EROFS:
		return error_hint(err, "give -o a file in a directory that you can write to");
	case EDQUOT:
	case ENOSPC:
		return error_hint(err, "free disk space, or give -o a file on another disk");
	default:
		return err;
	}
}

static bool is_direct(const struct output *output)
{
	return output->place.descriptor >= 0 || output->place.special >= 0;
}

/* Fails if no file can be created there. Discards the file, so that none
 * remains if prof is killed while it records. */
static struct error *try_place(struct output *output)
{
	CLEANUP(output_file_discard) struct output_file file = OUTPUT_FILE_INIT;

	if (fstat(output->place.folder, &output->folder) < 0)
		return error_errno(errno, "create %s", output->path);
	return output_file_create(&output->place, &file);
}

/* Opens it by descriptor, because its name may refer to another file by now. */
static int open_special(int special)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", special);
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

static struct error *open_direct(struct output *output)
{
	if (output->place.descriptor >= 0)
		output->fd = fcntl(output->place.descriptor, F_DUPFD_CLOEXEC, 3);
	else
		output->fd = open_special(output->place.special);
	if (output->fd < 0)
		return error_errno(errno, "open %s", output->path);
	/* main() replaces a closed stdout by a descriptor that is not
	 * writable. */
	if ((fcntl(output->fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return error_errno(EBADF, "write to %s", output->path);
	return NULL;
}

static const struct format *format_of(const struct output *output)
{
	const struct format *format = format_by_path(output->path);

	return !format && is_direct(output) ? &format_folded : format;
}

/* Called again before writing, because the number may be taken by then, or a
 * symbolic link may have changed. */
static struct error *output_find_place(struct output *output)
{
	struct error *err;

	output_place_deinit(&output->place);
	if (!output->is_settled) {
		free(output->path);
		output->path = output_path_of(output->pattern);
	}
	if (output->directory)
		err = output_directory_place(output->directory, basename(output->path),
					     &output->place);
	else
		err = output_place_find(output->path, &output->place);
	if (!err) {
		free(output->target);
		output->target = xstrdup(output->place.path);
	}
	return err;
}

struct error *output_open(const struct output_directory *directory, const char *template,
			  const struct format *format, output_tell *tell, struct output *ret)
{
	struct output output = {.directory = directory,
				.pattern = output_pattern_of(template),
				.place = OUTPUT_PLACE_INIT,
				.file = OUTPUT_FILE_INIT,
				.fd = -1,
				.checkpoint = -1,
				.tell = tell};
	struct error *err = output_find_place(&output);

	if (!err)
		output.format = format ? format : format_of(&output);
	if (!err && !output.format)
		err = error_usage(unknown_format(output.path));
	else if (!err && is_direct(&output))
		err = open_direct(&output);
	else if (!err)
		err = output_advise(try_place(&output));
	output.is_file = output.fd < 0;
	output_place_deinit(&output.place);
	if (!err && output.format->binary && output.fd >= 0 && isatty(output.fd)) {
		err = error_usage(
			error_new("%s is a binary format and %s is a terminal", output.format->name,
				  output_is_stdout(output.path) ? "stdout" : output.path));
		err = error_hint(err, "write to a file with -o, or to a pipe");
	}
	if (err)
		output_discard(&output);
	else
		*ret = output;
	return err;
}

void output_discard(struct output *output)
{
	output_file_discard(&output->file);
	output_place_deinit(&output->place);
	close_fd(&output->fd);
	close_fd(&output->checkpoint);
	free(STEAL(output->pattern));
	free(STEAL(output->path));
	free(STEAL(output->target));
}

/* Takes ownership of fd. */
static struct error *write_into(const struct output *output, int fd, output_writer *write,
				void *user)
{
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	struct error *err;

	if (!file) {
		err = error_errno(errno, "write");
		close_fd(&fd);
		return err;
	}
	setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
	err = write(user, output->format, file);
	if (fclose(file) != 0 && !err)
		err = error_errno(errno, "write");
	return err;
}

struct source {
	const struct profile *profile;
	const struct format_options *options;
};

static struct error *output_write_profile(void *user, const struct format *format, FILE *out)
{
	const struct source *source = user;

	return format->write(source->profile, source->options, out);
}

/* Returns a duplicate that the caller can close. */
static int output_copy_of(const struct output_file *file)
{
	return fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
}

static struct error *output_begin_file(struct output *output)
{
	struct error *err = output_find_place(output);

	/* The file was replaced by something else after output_open(). */
	if (!err && is_direct(output))
		err = error_errno(EEXIST, "create %s", output->path);
	return err ? err : output_file_create(&output->place, &output->file);
}

struct error *output_begin(struct output *output, int *ret_fd)
{
	struct error *err = output_begin_file(output);

	if (err)
		return err;
	*ret_fd = output_copy_of(&output->file);
	return *ret_fd < 0 ? error_errno(errno, "create %s", output->path) : NULL;
}

static struct error *output_publish(struct output *output)
{
	struct error *old_lost;
	struct error *err = output_file_publish(&output->file, &output->place, output->checkpoint,
						&old_lost);

	if (old_lost)
		output->tell(error_wrap(old_lost, "the previous %s is not kept", output->path));
	return err;
}

struct error *output_end(struct output *output, struct error *err)
{
	if (err) {
		output_file_discard(&output->file);
		return output_advise(error_wrap(err, "write %s", output->path));
	}
	if (!output->is_growing)
		err = output_advise(output_publish(output));
	output->is_written = !err;
	return err;
}

static struct error *write_file(struct output *output, output_writer *write, void *user)
{
	struct error *err = output_begin_file(output);

	if (!err)
		err = output_end(output,
				 write_into(output, output_copy_of(&output->file), write, user));
	output_file_discard(&output->file);
	output_place_deinit(&output->place);
	return err;
}

struct error *output_write_from(struct output *output, output_writer *write, void *user)
{
	struct error *err;

	if (output->is_file)
		return write_file(output, write, user);
	err = write_into(output, steal_fd(&output->fd), write, user);
	output->is_written = !err;
	return error_wrap(err, "write %s",
			  output_is_stdout(output->path) ? "to stdout" : output->path);
}

struct error *output_write(struct output *output, const struct profile *profile,
			   const struct format_options *options)
{
	return output_write_from(output, output_write_profile, &(struct source){profile, options});
}

struct error *output_prepare(struct output *output)
{
	struct error *err = output_begin_file(output);

	output->is_settled |= !err;
	return err;
}

/* Removes what an incomplete write has left. */
static struct error *output_clear(int fd)
{
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return error_errno(errno, "write");
	return NULL;
}

struct error *output_write_prepared(struct output *output, const struct profile *profile,
				    const struct format_options *options)
{
	struct error *err = output_clear(output->file.fd);

	if (!err)
		err = write_into(output, output_copy_of(&output->file), output_write_profile,
				 &(struct source){profile, options});
	/* After a power failure, a file that has replaced another one must not
	 * be empty. */
	if (!err && fdatasync(output->file.fd) < 0)
		err = error_errno(errno, "write");
	return err ? output_advise(error_wrap(err, "write %s", output->path))
		   : output_end(output, NULL);
}

bool output_take_prepared(struct output *output)
{
	bool is_written = output_file_is_at(output->file.fd, &output->place);

	if (is_written) {
		close_fd(&output->checkpoint);
		output->checkpoint = steal_fd(&output->file.fd);
	}
	output_file_discard(&output->file);
	output_place_deinit(&output->place);
	return is_written;
}

struct error *output_publish_growing(struct output *output)
{
	struct error *err = output->is_growing ? NULL : output_publish(output);

	output->is_growing |= !err;
	return err;
}

struct rescue {
	const struct output *output;
	struct source source;
};

static struct error *write_again(void *user, int fd)
{
	struct rescue *rescue = user;

	return write_into(rescue->output, fcntl(fd, F_DUPFD_CLOEXEC, 3), output_write_profile,
			  &rescue->source);
}

static struct error *copy_file(void *user, int fd)
{
	struct rescue *rescue = user;
	off_t at = 0;
	ssize_t copied;

	do
		copied = sendfile(fd, rescue->output->file.fd, &at, INT32_MAX);
	while (copied > 0);
	return copied < 0 ? error_errno(errno, "write") : NULL;
}

char *output_write_elsewhere(struct output *output, const struct profile *profile,
			     const struct format_options *options)
{
	struct rescue rescue = {.output = output, .source = {profile, options}};

	if (!output->is_file || (!profile && output->file.fd < 0))
		return NULL;
	return output_rescue(basename(output->path), profile ? write_again : copy_file, &rescue);
}
