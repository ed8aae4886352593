#include "cmd/translate.h"

#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/summary.h"

#include <errno.h>
#include <fcntl.h>
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

const struct format *translate_format(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	unsigned char first[FIRST_BYTES];
	ssize_t len = at >= 0 ? pread(fd, first, sizeof(first), at) : peek_pipe(fd, first);

	return len > 0 ? format_by_content(first, (size_t)len) : NULL;
}

int translate(int fd, const char *name, const struct format *format, struct outputs *outputs,
	      const struct delivery_options *options)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");
	struct error *err = in ? format->read(in, profile) : error_errno(errno, "read");
	int status;

	if (err)
		return message_failure(error_wrap(err, "%s", name), STATUS_FAILED);
	status = outputs_write(outputs, profile, &options->format_options);
	if (!options->quiet)
		summary_print_files(outputs->items, outputs->count);
	return status;
}
