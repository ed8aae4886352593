#include "cmd/input.h"

#include "base/alloc.h"
#include "base/signals.h"
#include "base/trusted_user.h"
#include "cmd/record_messages.h"
#include "cmd/segment_range.h"
#include "cmd/ui/message.h"
#include "cmd/unknown_file.h"
#include "cmd/unpacked_file.h"
#include "format/format.h"
#include "heapfile/heap_file.h"
#include "profile/source_users.h"
#include "profile/tasks.h"
#include "record/heap_import.h"
#include "record/local_symbols.h"
#include "report/logical.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* FIRST_BYTES: some lines of perf script. */
enum { FIRST_BYTES = 512, PIECE_MS = 10 };

/*
 * Until the pipe holds the first bytes, or all that will come: a writer may write a byte at a time.
 * Events are not asked for: a pipe with some bytes is readable all the time, only its end is news.
 */
static void wait_for_first(int pipe)
{
	struct pollfd writers = {.fd = pipe};
	int held = 0;

	while (!(writers.revents & (POLLHUP | POLLERR)) && ioctl(pipe, FIONREAD, &held) == 0 &&
	       held < FIRST_BYTES)
		poll(&writers, 1, PIECE_MS);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* A pipe is read in a copy: tee(2) leaves what it copies where it is. */
static ssize_t peek_pipe(int fd, unsigned char *first)
{
	ssize_t len = -1;
	int copy[2];

	if (!is_pipe(fd) || pipe2(copy, O_CLOEXEC) < 0)
		return -1;
	wait_for_first(fd);
	do
		len = tee(fd, copy[1], FIRST_BYTES, 0);
	while (len < 0 && errno == EINTR);
	if (len > 0)
		len = read(copy[0], first, FIRST_BYTES);
	close(copy[0]);
	close(copy[1]);
	return len;
}

/* How a file becomes a profile whose addresses are symbolized. */
typedef struct error *importer(int fd, const struct import_options *options,
			       struct import_result *ret);

/* What a file is. */
struct content {
	const struct format *format; /* NULL: it is imported */
	importer *import;
};

/* The first bytes, which stay there; their number, or less than 1 if they cannot be had. */
static ssize_t peek(int fd, unsigned char first[FIRST_BYTES])
{
	off_t at = lseek(fd, 0, SEEK_CUR);

	return at >= 0 ? pread(fd, first, FIRST_BYTES, at) : peek_pipe(fd, first);
}

/* A recording of perf where nothing else begins so, or the first bytes are not known. */
static struct content content_of(const unsigned char *first, ssize_t len)
{
	struct content content = {.import = import_perfdata};

	if (len > 0 && heap_file_recognize(first, (size_t)len))
		content.import = import_heap_file;
	else if (len > 0)
		content.format = format_by_content(first, (size_t)len);
	return content;
}

/* Unpacks the file, and finds out what it is. */
static struct error *recognize(int *fd, struct content *ret)
{
	unsigned char first[FIRST_BYTES];
	ssize_t len = peek(*fd, first);
	struct error *err = len > 0 ? unpacked_file(fd, first, (size_t)len) : NULL;

	if (err)
		return err;
	len = peek(*fd, first);
	*ret = content_of(first, len);
	return len > 0 ? unknown_file(first, (size_t)len) : NULL;
}

static struct error *read_format(int fd, const struct format *format, struct profile *profile)
{
	CLEANUP(close_file) FILE *in = fdopen(fd, "r");

	if (in)
		return format->read(in, profile);
	close(fd);
	return error_errno(errno, "read");
}

/* What of the file could not be read. */
static void print_problems(const struct profile *profile, const char *name)
{
	const char *line = profile_get_info(profile)->problems;

	for (size_t len; (len = strcspn(line, "\n")); line += len + 1)
		message("%s: %.*s", name, (int)len, line);
}

/* A signal cuts short what is being done. */
struct interruption {
	struct signal_guard *guard;
	atomic_bool cancel;
};

static void on_signal(void *user)
{
	struct interruption *interruption = user;
	struct received_signal signal;

	if (signal_guard_next(interruption->guard, &signal) && signal.number != SIGUSR2)
		atomic_store(&interruption->cancel, true);
}

/* Who has written a file, unless it is somebody trusted or unknown: 0. */
static uid_t foreign_writer(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !is_trusted_user(st.st_uid) ? st.st_uid
											 : 0;
}

/* What to do in the loop. */
struct reading {
	int fd;
	importer *import; /* NULL: the profile is read, and its frames are symbolized */
	uid_t writer;
	const struct input_options *options;
};

static struct error *read_in_loop(const struct reading *reading, struct loop *loop,
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

static struct error *run_reading(const struct reading *reading, struct input *input)
{
	const struct input_options *options = reading->options;
	struct interruption interruption = {.guard = options->signals};
	CLEANUP(loop_cleanup) struct loop *loop = NULL;
	struct loop_watch *watch;
	struct error *err = loop_new(&loop);

	if (!err && options->signals)
		err = loop_watch(loop, signal_guard_fd(options->signals), on_signal, &interruption,
				 &watch);
	if (!err)
		return read_in_loop(reading, loop, &interruption.cancel, input);
	close_fd(&(int){reading->fd});
	return err;
}

/* writer: as foreign_writer(). */
static struct error *read_any(int fd, uid_t writer, const struct input_options *options,
			      struct input *input)
{
	struct content content;
	struct error *err = recognize(&fd, &content);

	if (err) {
		close(fd);
		return err;
	}
	if (!content.format)
		return run_reading(&(struct reading){fd, content.import, writer, options}, input);
	input->profile = profile_new();
	err = read_format(fd, content.format, input->profile);
	if (!err)
		err = run_reading(&(struct reading){-1, NULL, writer, options}, input);
	if (!err)
		tasks_label(input->profile);
	return err;
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
	return error_hint(
		err,
		"prof reads pprof profiles, folded stacks, the text of perf script, heap files of "
		"jemalloc and tcmalloc, and recordings of perf: "
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
	writer = foreign_writer(fd);
	err = read_any(fd, writer, options, &input);
	if (err) {
		input_deinit(&input);
		return error_wrap(explain(err, name), "%s", name);
	}
	if (writer)
		source_users_distrust(input.profile, writer);
	print_problems(input.profile, name);
	*ret = input;
	return NULL;
}

static struct error *read_path(const char *path, const struct input_options *options,
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
		return err ? err : read_path(path, options, ret);
	*ret = (struct input){0};
	err = segment_range_read(directory, &range, options->keeps_timestamps, &ret->profile);
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
