#include "cmd/output.h"

#include "base/alloc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Hundreds of megabytes go through it. */
enum { BUFFER_BYTES = 256 * 1024 };

/* Names of what is open already; opening them anew would truncate, or replace the name. -1: none.
 */
static int descriptor_of(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i]);

		if (!strncmp(path, folders[i], len) && isdigit((unsigned char)path[len]) &&
		    !path[len + strspn(path + len, "0123456789")])
			return atoi(path + len);
	}
	return -1;
}

bool output_is_stdout(const char *path)
{
	return descriptor_of(path) == STDOUT_FILENO;
}

static bool stat_folder(const char *path, struct stat *ret)
{
	CLEANUP(free_ptr)
	char *folder = xasprintf("%.*s.", (int)(basename(path) - path), path);

	return stat(folder, ret) == 0;
}

static bool is_same_folder(const char *left, const char *right)
{
	struct stat left_st, right_st;

	return stat_folder(left, &left_st) && stat_folder(right, &right_st) &&
	       left_st.st_dev == right_st.st_dev && left_st.st_ino == right_st.st_ino;
}

static void put_time(FILE *out)
{
	char text[32];
	time_t now = time(NULL);
	struct tm local;

	localtime_r(&now, &local);
	strftime(text, sizeof(text), "%Y%m%d-%H%M%S", &local);
	fputs(text, out);
}

/* Whose %p and %t are replaced, and %n and %% are not: what stays the same through a run. */
static char *pattern_of(const char *template)
{
	char *pattern = NULL;
	size_t len;
	FILE *out = open_memstream(&pattern, &len);

	for (const char *at = template; *at; at++) {
		if (!strncmp(at, "%p", 2)) {
			fprintf(out, "%d", getpid());
			at++;
		} else if (!strncmp(at, "%t", 2)) {
			put_time(out);
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
		if (!strncmp(at, "%n", 2)) {
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

/* Numbered ones get another number each. */
bool output_is_same(const struct output *output, const struct output *other)
{
	if (!output->is_file || !other->is_file)
		return descriptor_of(output->path) >= 0
			       ? descriptor_of(output->path) == descriptor_of(other->path)
			       : !strcmp(output->path, other->path);
	return !strcmp(basename(output->path), basename(other->path)) &&
	       is_same_folder(output->path, other->path) && !has_number(output->pattern);
}

/* With a number: the first that makes a new name. */
static char *path_of(const char *pattern)
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
	return error_hint(error_new("the extension of %s tells no format", path),
			  "give --format, or a known extension: %s", known);
}

/* A FIFO, a terminal: what is there and is no regular file. */
static bool is_special(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* Under sudo the file belongs to who typed the command. A failure leaves it root's, which is no
 * less safe. */
static void give_to_sudo_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !uid || !gid)
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)) < 0)
		return;
}

static struct error *create_temporary(struct output *output)
{
	const char *slash = strrchr(output->path, '/');
	const char *name = slash ? slash + 1 : output->path;

	output->temporary = xasprintf("%.*s.%s.XXXXXX", (int)(name - output->path), output->path,
				      name);
	output->fd = mkostemp(output->temporary, O_CLOEXEC);
	if (output->fd < 0) {
		free(STEAL(output->temporary));
		return error_errno(errno, "create %s", output->path);
	}
	give_to_sudo_user(output->fd);
	return NULL;
}

static void remove_temporary(struct output *output)
{
	if (output->temporary)
		unlink(output->temporary);
	free(STEAL(output->temporary));
	close_fd(&output->fd);
	output->fd = -1;
}

/* Can a file be made there? None is kept: whoever kills prof while it records finds no remains. */
static struct error *try_place(struct output *output)
{
	struct error *err;
	struct stat st;

	if (stat(output->path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_errno(EISDIR, "write %s", output->path);
	err = create_temporary(output);
	remove_temporary(output);
	return err;
}

static struct error *open_direct(struct output *output)
{
	int descriptor = descriptor_of(output->path);

	if (descriptor >= 0)
		output->fd = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
	else
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (output->fd < 0)
		return error_errno(errno, "open %s", output->path);
	/* Also what stands for a stdout that was closed. */
	if ((fcntl(output->fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
		return error_errno(EBADF, "write to %s", output->path);
	return NULL;
}

static bool is_direct(const char *path)
{
	return descriptor_of(path) >= 0 || is_special(path);
}

static const struct format *format_of(const char *path)
{
	const struct format *format = format_by_path(path);

	return !format && is_direct(path) ? &format_folded : format;
}

struct error *output_open(const char *template, const struct format *format, struct output *ret,
			  bool *is_usage)
{
	struct output output = {.pattern = pattern_of(template), .fd = -1};
	struct error *err = NULL;

	output.path = path_of(output.pattern);
	output.format = format ? format : format_of(output.path);
	*is_usage = !output.format;
	if (!output.format)
		err = unknown_format(output.path);
	else if (is_direct(output.path))
		err = open_direct(&output);
	else
		err = try_place(&output);
	output.is_file = output.fd < 0;
	if (!err && output.format->binary && output.fd >= 0 && isatty(output.fd)) {
		*is_usage = true;
		err = error_hint(error_new("%s is binary and %s a terminal", output.format->name,
					   output_is_stdout(output.path) ? "stdout" : output.path),
				 "name a file with -o, or send it down a pipe");
	}
	if (err)
		output_discard(&output);
	else
		*ret = output;
	return err;
}

void output_discard(struct output *output)
{
	remove_temporary(output);
	free(STEAL(output->pattern));
	free(STEAL(output->path));
}

/* What is at path becomes path.old, and keeps its place too until the new file takes it. */
static struct error *keep_old(const char *path)
{
	CLEANUP(free_ptr) char *old = xasprintf("%s.old", path);
	struct stat st;

	if (lstat(path, &st) < 0)
		return NULL;
	unlink(old);
	if (link(path, old) < 0 && rename(path, old) < 0)
		return error_errno(errno, "keep the old %s", path);
	return NULL;
}

static struct error *put_in_place(struct output *output)
{
	struct error *err = keep_old(output->path);

	if (err)
		return err;
	if (rename(output->temporary, output->path) < 0)
		return error_errno(errno, "write %s", output->path);
	free(STEAL(output->temporary));
	return NULL;
}

static struct error *write_into(struct output *output, const struct profile *profile,
				const struct format_options *options)
{
	FILE *file = fdopen(output->fd, "w");
	struct error *err;

	if (!file)
		return error_errno(errno, "write %s", output->path);
	output->fd = -1;
	setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
	err = output->format->write(profile, options, file);
	if (fclose(file) != 0 && !err)
		err = error_errno(errno, "write");
	return err;
}

struct error *output_begin(struct output *output, int *ret_fd)
{
	struct error *err;

	/* What was written meanwhile, by this run or another, may have taken the number. */
	free(output->path);
	output->path = path_of(output->pattern);
	err = create_temporary(output);
	if (!err)
		*ret_fd = steal_fd(&output->fd);
	return err;
}

struct error *output_end(struct output *output, struct error *err)
{
	if (err)
		err = error_wrap(err, "write %s", output->path);
	else
		err = put_in_place(output);
	output->is_written = !err;
	remove_temporary(output);
	return err;
}

struct error *output_write(struct output *output, const struct profile *profile,
			   const struct format_options *options)
{
	struct error *err;

	if (!output->is_file) {
		err = write_into(output, profile, options);
		output->is_written = !err;
		return error_wrap(err, "write %s",
				  output_is_stdout(output->path) ? "to stdout" : output->path);
	}
	err = output_begin(output, &output->fd);
	return err ? err : output_end(output, write_into(output, profile, options));
}
