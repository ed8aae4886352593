#include "cmd/input/input.h"

#include "base/alloc.h"
#include "base/signals.h"
#include "base/trusted_user.h"
#include "cmd/input/unknown_file.h"
#include "cmd/input/unpacked_file.h"
#include "cmd/record/record_messages.h"
#include "cmd/ui/message.h"
#include "format/format.h"
#include "heapfile/heap_file.h"
#include "profile/source_users.h"
#include "profile/tasks.h"
#include "record/heap_import.h"
#include "record/local_symbols.h"
#include "report/logical.h"
#include "segments/range.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* INPUT_FIRST_BYTES is enough for some lines of perf script. */
enum { INPUT_FIRST_BYTES = 512, PIECE_MS = 10 };

/*
 * Waits until the pipe holds the first bytes, or has been closed: a writer may
 * write a byte at a time. Polls, because a pipe with some bytes is always
 * readable; epoll would only report its end.
 */
static void wait_for_first(int pipe)
{
	struct pollfd writers = {.fd = pipe};
	int held = 0;

	while (!(writers.revents & (POLLHUP | POLLERR)) && ioctl(pipe, FIONREAD, &held) == 0 &&
	       held < INPUT_FIRST_BYTES)
		poll(&writers, 1, PIECE_MS);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* A pipe is read with tee(2), which copies data and leaves it in the pipe. */
static ssize_t peek_pipe(int fd, unsigned char *first)
{
	ssize_t len = -1;
	int copy[2];

	if (!is_pipe(fd) || pipe2(copy, O_CLOEXEC) < 0)
		return -1;
	wait_for_first(fd);
	do
		len = tee(fd, copy[1], INPUT_FIRST_BYTES, 0);
	while (len < 0 && errno == EINTR);
	if (len > 0)
		len = read(copy[0], first, INPUT_FIRST_BYTES);
	close(copy[0]);
	close(copy[1]);
	return len;
}

/* Makes a profile from a file. Its addresses are symbolized. */
typedef struct error *importer(int fd, const struct import_options *options,
			       struct import_result *ret);

/* The format of a file. */
struct input_content {
	const struct format *format; /* NULL if the file is imported */
	importer *import;
};

/* Reads the first bytes without consuming them. Returns their number, or less
 * than 1 if they cannot be read. */
static ssize_t peek(int fd, unsigned char first[INPUT_FIRST_BYTES])
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at >= 0 ? pread(fd, first, INPUT_FIRST_BYTES, at) : peek_pipe(fd, first);
}

/* Assumes a perf recording if nothing else starts with these bytes, or if they
 * are not known. */
static struct input_content input_content_of(const unsigned char *first, ssize_t len)
{
	struct input_content content = {.import = import_perfdata};

	if (len > 0 && heap_file_recognize(first, (size_t)len))
		content.import = import_heap_file;
	else if (len > 0)
		content.format = format_by_content(first, (size_t)len);
	return content;
}

/* Decompresses the file and recognizes its format. */
static struct error *recognize(int *fd, struct input_content *ret)
{
	unsigned char first[INPUT_FIRST_BYTES];
	ssize_t len = peek(*fd, first);
	struct error *err = len > 0 ? unpacked_file(fd, first, (size_t)len) : NULL;

	if (err)
		return err;
	len = peek(*fd, first);
	*ret = input_content_of(first, len);
	return len > 0 ? unknown_file(first, (size_t)len) : NULL;
}

static struct error *input_read_format(int fd, const struct format *format, struct profile *profile)
{
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");

	if (in)
		return format->read(in, profile);
	close(fd);
	return error_errno(errno, "read");
}

/* Reports what could not be read. */
static void input_print_problems(const struct profile *profile, const char *name)
{
	const char *line = profile_get_info(profile)->problems;

	for (size_t len; (len = strcspn(line, "\n")); line += len + 1)
		message("%s: %.*s", name, (int)len, line);
}

/* A signal cancels the current work. */
struct interruption {
	struct signal_guard *guard;
	atomic_bool cancel;
};

static void input_on_signal(void *user)
{
	struct interruption *interruption = user;
	struct received_signal signal;

	if (signal_guard_next(interruption->guard, &signal) && signal.number != SIGUSR2)
		atomic_store(&interruption->cancel, true);
}

/* Returns the user who has written a file, or 0 if that user is trusted or
 * unknown. */
static uid_t untrusted_writer(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !is_trusted_user(st.st_uid) ? st.st_uid
											 : 0;
}

/* The work in the loop. */
struct input_reading {
	int fd;
	importer *import; /* NULL if the profile is read and its frames are symbolized */
	uid_t writer;
	const struct input_options *options;
};

static struct error *read_in_loop(const struct input_reading *reading, struct loop *loop,
				  atomic_bool *cancel, struct input *input)
{
	const struct input_options *options = reading->options;
	struct listener listener = record_messages(true, options->shows_progress);
	struct import_result result = {0};
	struct error *err = NULL;
	struct import_options import_options = {
		.symfs = options->symfs,
		.weight = options->weight,
		.labels = (const char *const *)options->labels.items,
		.label_count = options->labels.count,
		.caller = sudo_caller(),
		.writer = reading->writer,
		.symbols = options->symbols,
		.command = options->command,
		.needs_timestamps = options->keeps_timestamps,
		.adds_elapsed = options->adds_elapsed,
		.loop = loop,
		.cancel = cancel,
		.listener = &listener,
	};

	if (!reading->import) {
		local_symbols_add(input->profile, &import_options);
		message_progress_end();
		return NULL;
	}
	err = reading->import(reading->fd, &import_options, &result);
	message_progress_end();
	input->is_recording = true;
	input->profile = result.profile;
	input->finalized = result.finalized;
	input->reading_cpu_ns = result.reading_cpu_ns;
	return err;
}

static struct error *input_run_reading(const struct input_reading *reading, struct input *input)
{
	const struct input_options *options = reading->options;
	struct interruption interruption = {.guard = options->signals};
	CLEANUP(loop_cleanup) struct loop *loop = NULL;
	struct loop_watch *watch;
	struct error *err = loop_new(&loop);

	if (!err && options->signals)
		err = loop_watch(loop, signal_guard_fd(options->signals), input_on_signal,
				 &interruption, &watch);
	if (!err)
		return read_in_loop(reading, loop, &interruption.cancel, input);
	close_fd(&(int){reading->fd});
	return err;
}

/* writer: as untrusted_writer(). */
static struct error *read_any(int fd, uid_t writer, const struct input_options *options,
			      struct input *input)
{
	struct input_content content;
	struct error *err = recognize(&fd, &content);

	if (err) {
		close(fd);
		return err;
	}
	if (!content.format)
		return input_run_reading(
			&(struct input_reading){fd, content.import, writer, options}, input);
	input->profile = profile_new();
	err = input_read_format(fd, content.format, input->profile);
	if (!err)
		err = input_run_reading(&(struct input_reading){-1, NULL, writer, options}, input);
	if (!err)
		tasks_label(input->profile);
	return err;
}

static bool input_ends_in(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	return len >= end_len && !strcmp(path + len - end_len, end);
}

/* Explains the error if the file has the name of a format that profilers write. */
static struct error *input_explain(struct error *err, const char *path)
{
	const struct format *format = format_by_path(path);

	if (format ? format->read || !format->write
		   : !input_ends_in(path, ".json") && !input_ends_in(path, ".json.gz"))
		return err;
	error_free(err);
	err = format ? error_new("prof writes this format (%s), but does not read it", format->name)
		     : error_new("JSON of other profilers is not read");
	return error_hint(
		err,
		"prof reads pprof profiles, folded stacks, the text of perf script, jemalloc and "
		"tcmalloc heap files, and perf recordings: also record with -o prof.pb.gz");
}

const char *input_default(void)
{
	static const char *const names[] = {"prof.pb.gz", "perf.data"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (access(names[i], F_OK) == 0)
			return names[i];
	return NULL;
}

void input_make_logical(struct input *input)
{
	struct profile *original = input->profile;

	input->profile = logical_profile(original);
	profile_free(original);
}

struct error *input_read_file(int fd, const char *name, const struct input_options *options,
			      struct input *ret)
{
	struct input input = {0};
	struct error *err;
	uid_t writer;

	if (fd < 0)
		return error_errno(errno, "open %s", name);
	writer = untrusted_writer(fd);
	err = read_any(fd, writer, options, &input);
	if (err) {
		input_deinit(&input);
		return error_wrap(input_explain(err, name), "%s", name);
	}
	if (writer)
		source_users_distrust(input.profile, writer);
	input_print_problems(input.profile, name);
	*ret = input;
	return NULL;
}

static struct error *input_read_path(const char *path, const struct input_options *options,
				     struct input *ret)
{
	if (!strcmp(path, "-"))
		return input_read_file(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), "stdin", options,
				       ret);
	return input_read_file(open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), path, options, ret);
}

struct error *input_read(const char *path, const struct input_options *options, struct input *ret)
{
	CLEANUP(free_ptr) char *directory = NULL;
	struct time_range range;
	struct error *err = segment_range_parse(path, options->since, options->until, &directory,
						&range);

	if (err || !directory)
		return err ? err : input_read_path(path, options, ret);
	*ret = (struct input){0};
	err = segment_range_read(directory, &range, options->keeps_timestamps, message,
				 &ret->profile);
	if (!err)
		tasks_label(ret->profile);
	return err;
}

void input_deinit(struct input *input)
{
	finalize_result_deinit(&input->finalized);
	profile_free(input->profile);
	*input = (struct input){0};
}
