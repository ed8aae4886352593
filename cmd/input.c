#include "cmd/input.h"

#include "base/alloc.h"
#include "cmd/recorded.h"
#include "format/format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 64 };

/* A pipe is read in a copy: tee(2) leaves what it copies where it is, and waits for some. */
static ssize_t peek_pipe(int fd, unsigned char *first)
{
	ssize_t len = -1;
	int copy[2];

	if (pipe2(copy, O_CLOEXEC) < 0)
		return -1;
	do
		len = tee(fd, copy[1], FIRST_BYTES, 0);
	while (len < 0 && errno == EINTR);
	if (len > 0)
		len = read(copy[0], first, FIRST_BYTES);
	close(copy[0]);
	close(copy[1]);
	return len;
}

/* By the first bytes, which stay there; NULL where no format begins so, or the bytes cannot be had
 * without taking them. */
static const struct format *format_of(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	unsigned char first[FIRST_BYTES];
	ssize_t len = at >= 0 ? pread(fd, first, sizeof(first), at) : peek_pipe(fd, first);

	return len > 0 ? format_by_content(first, (size_t)len) : NULL;
}

static struct error *read_format(int fd, const struct format *format, struct profile *profile)
{
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");

	if (in)
		return format->read(in, profile);
	close(fd);
	return error_errno(errno, "read");
}

static struct error *read_any(int fd, const struct input_options *options, struct input *input)
{
	const struct format *format = format_of(fd);

	if (format)
		return read_format(fd, format, input->profile);
	return recorded_read(fd, options, input);
}

static bool ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && !strcmp(path + len - end_len, end);
}

/* What was to be read is something that profilers write, by its name at least. */
static struct error *explain(struct error *err, const char *path)
{
	const struct format *format = format_by_path(path);

	if (format ? format->read || !format->write
		   : !ends_in(path, ".json") && !ends_in(path, ".json.gz"))
		return err;
	error_free(err);
	err = format ? error_new("prof writes this format (%s), but does not read it", format->name)
		     : error_new("JSON of other profilers is not read");
	return error_hint(err, "prof reads pprof profiles, folded stacks and recordings of perf: "
			       "record with -o prof.pb.gz, too");
}

const char *input_default(void)
{
	static const char *const names[] = {"prof.pb.gz", "perf.data"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (access(names[i], F_OK) == 0)
			return names[i];
	return NULL;
}

struct error *input_read(const char *path, const struct input_options *options, struct input *ret)
{
	bool is_stdin = !strcmp(path, "-");
	const char *name = is_stdin ? "stdin" : path;
	struct input input = {0};
	struct error *err;
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
			  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_errno(errno, "open %s", name);
	input.profile = profile_new();
	err = read_any(fd, options, &input);
	if (err) {
		input_deinit(&input);
		return error_wrap(explain(err, name), "%s", name);
	}
	*ret = input;
	return NULL;
}

void input_deinit(struct input *input)
{
	completeness_deinit(&input->completeness);
	profile_free(input->profile);
	*input = (struct input){0};
}
