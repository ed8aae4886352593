#include "cmd/output.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool output_is_stdout(const struct output *output)
{
	return !strcmp(output->path, "-");
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

static char *expand(const char *template, unsigned number)
{
	char *path = NULL;
	size_t len;
	FILE *out = open_memstream(&path, &len);

	for (const char *at = template; *at; at++) {
		if (at[0] != '%' || !at[1]) {
			fputc(*at, out);
			continue;
		}
		switch (*++at) {
		case 'p':
			fprintf(out, "%d", getpid());
			break;
		case 't':
			put_time(out);
			break;
		case 'n':
			fprintf(out, "%u", number);
			break;
		case '%':
			fputc('%', out);
			break;
		default:
			fprintf(out, "%%%c", *at);
		}
	}
	fclose(out);
	return path;
}

static char *expand_new(const char *template)
{
	for (unsigned number = 1;; number++) {
		char *path = expand(template, number);

		if (!strstr(template, "%n") || access(path, F_OK) < 0)
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

/* /dev/fd/N, a FIFO, a terminal: what is there and is no regular file. */
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

static struct error *open_beside(struct output *output)
{
	const char *slash = strrchr(output->path, '/');
	const char *name = slash ? slash + 1 : output->path;
	struct stat st;

	if (stat(output->path, &st) == 0 && S_ISDIR(st.st_mode))
		return error_errno(EISDIR, "write %s", output->path);
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

static struct error *open_direct(struct output *output)
{
	if (output_is_stdout(output))
		output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		output->fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
	if (output->fd < 0)
		return error_errno(errno, "open %s",
				   output_is_stdout(output) ? "stdout" : output->path);
	return NULL;
}

struct error *output_open(const char *template, const struct format *format, struct output *ret,
			  bool *is_usage)
{
	struct output output = {.path = expand_new(template), .fd = -1};
	struct error *err = NULL;

	output.format = format ? format : format_by_path(output.path);
	if (!output.format && output_is_stdout(&output))
		output.format = &format_folded;
	*is_usage = !output.format;
	if (!output.format)
		err = unknown_format(output.path);
	else if (output_is_stdout(&output) || is_special(output.path))
		err = open_direct(&output);
	else
		err = open_beside(&output);
	if (!err && output.format->binary && isatty(output.fd)) {
		*is_usage = true;
		err = error_hint(
			error_new("%s is binary and stdout a terminal", output.format->name),
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
	if (output->temporary)
		unlink(output->temporary);
	free(STEAL(output->temporary));
	free(STEAL(output->path));
	close_fd(&output->fd);
	output->fd = -1;
}

/* The old file keeps its place until the new one takes it. */
static struct error *put_in_place(struct output *output)
{
	CLEANUP(free_ptr) char *old = xasprintf("%s.old", output->path);

	if (!output->temporary)
		return NULL;
	unlink(old);
	if (link(output->path, old) < 0 && errno != ENOENT && rename(output->path, old) < 0)
		return error_errno(errno, "keep the old %s", output->path);
	if (rename(output->temporary, output->path) < 0)
		return error_errno(errno, "write %s", output->path);
	free(STEAL(output->temporary));
	return NULL;
}

struct error *output_write(struct output *output, const struct profile *profile,
			   const struct format_options *options)
{
	const char *where = output_is_stdout(output) ? "to stdout" : output->path;
	FILE *file = fdopen(steal_fd(&output->fd), "w");
	struct error *err = output->format->write(profile, options, file);

	if (fclose(file) != 0 && !err)
		err = error_errno(errno, "write");
	if (err)
		return error_wrap(err, "write %s", where);
	return put_in_place(output);
}
