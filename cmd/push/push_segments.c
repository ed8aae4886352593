#include "cmd/push/push_segments.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/ui/message.h"
#include "segments/name.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Opens the directory of a file. */
static struct error *open_directory(struct push_segments *segments, const char *path)
{
	CLEANUP(free_ptr) char *copy = xstrdup(path);
	char *slash = strrchr(copy, '/');

	if (slash)
		*(slash == copy ? slash + 1 : slash) = '\0';
	segments->directory = &segments->own;
	return output_directory_open(slash ? copy : ".", false, &segments->own);
}

struct error *push_segments_open(struct push_segments *segments, const struct outputs *outputs,
				 const struct output_options *options)
{
	for (size_t i = 0; i < outputs->count; i++) {
		if (outputs->items[i].format != &format_pprof)
			continue;
		segments->prefix = segment_prefix(options->outputs.items[i]);
		segments->directory = options->directory;
		return segments->directory ? NULL
					   : open_directory(segments, outputs->items[i].path);
	}
	return error_hint(error_new("--push sends several profiles from their pprof files"),
			  "-o prof.pb.gz");
}

void push_segments_deinit(struct push_segments *segments)
{
	output_directory_close(&segments->own);
	free(segments->prefix);
}

static bool push_all(const struct push_segments *segments, bool is_background)
{
	struct push push = *segments->push;

	push.guard = segments->recording->signals.guard;
	push.repeats = is_background && segments->has_failed;
	push.is_background = is_background;
	push.has_lock = segments->has_lock;
	return push_directory(&push, segments->directory, segments->prefix);
}

static uint64_t delay_ns(const struct push_segments *segments)
{
	struct utsname host;

	return uname(&host) < 0 ? 0 : push_delay_ns(host.nodename, segments->every_ns);
}

/* The child ends with prof. Profiles that are not delivered then stay in the
 * queue. */
static int push_segments_run(void *user)
{
	struct push_segments *segments = user;
	struct error *err = recording_fork(segments->recording);

	if (err) {
		message_error(err);
		return EXIT_FAILURE;
	}
	signal_guard_begin(segments->recording->signals.guard, SIGNAL_PHASE_WAITING);
	if (!push_sleep_until(&segments->push->wait, clock_now_ns() + delay_ns(segments)))
		return EXIT_SUCCESS;
	return push_all(segments, true) ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void on_pushed(void *user, const struct forked_child_end *end)
{
	struct push_segments *segments = user;

	segments->has_failed = end->status != 0;
	if (segments->is_wanted)
		push_segments_begin(segments);
}

void push_segments_begin(struct push_segments *segments)
{
	struct error *err;

	if (!segments->directory)
		return;
	segments->is_wanted = segments->writer.pid;
	if (segments->is_wanted)
		return;
	err = forked_writer_start(&segments->writer, segments->recording->loop,
				  FORKED_CHILD_ENDS_WITH_THREAD, push_segments_run, on_pushed,
				  segments);
	if (err)
		message_error(error_wrap(err, "push"));
}

void push_segments_stop(struct push_segments *segments)
{
	segments->is_wanted = false;
	if (segments->writer.pid)
		kill(segments->writer.pid, SIGTERM);
	forked_writer_wait(&segments->writer);
}

bool push_segments_finish(const struct push_segments *segments)
{
	return !segments->directory || push_all(segments, false);
}
