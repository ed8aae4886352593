#include "debuginfod/downloads.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "debuginfod/client.h"
#include "debuginfod/downloader.h"
#include "debuginfod/received_file.h"

#include <errno.h>
#include <poll.h>

enum { TICK_MS = 10 };

/* Bounds the time for a downloader that sends without end. */
enum { MESSAGES_PER_TICK = 16 };

struct downloads_run {
	const struct downloads_options *options;
	struct download *downloads;
	size_t count, next;
	struct downloader *downloaders[DOWNLOADS_AT_ONCE];
	/* Current download of each downloader, or NULL. */
	struct download *present[DOWNLOADS_AT_ONCE];
	bool lacks_library;
};

void download_deinit(struct download *download)
{
	close_fd(&download->fd);
	free(download->path);
	free(download->url);
	*download = (struct download){.fd = -1};
}

static void downloads_fail(struct download *download, int error)
{
	download->state = DOWNLOAD_FAILED;
	download->error = error;
}

static void say_progress(const struct downloads_run *run)
{
	if (run->options->progress)
		run->options->progress(run->options->user, run->downloads, run->count);
}

/* Ends a downloader that has died or sent an invalid message; its download
 * fails. */
static void downloads_dismiss(struct downloads_run *run, size_t slot)
{
	downloaders_end(&run->downloaders[slot], 1);
	if (run->present[slot])
		downloads_fail(STEAL(run->present[slot]), EPROTO);
}

static void downloads_ask(struct downloads_run *run, size_t slot, struct download *download)
{
	unsigned char message[CLIENT_GET_BYTES_MAX];
	size_t len = client_get_write(download, message);

	if (!len) {
		downloads_fail(download, ENAMETOOLONG);
		return;
	}
	run->present[slot] = download;
	download->state = DOWNLOAD_RUNNING;
	/* The send cannot block, because the downloader has no other
	 * request. */
	if (channel_send(downloader_channel(run->downloaders[slot]),
			 &(struct channel_message){
				 .kind = CLIENT_GET, .bytes = message, .len = len, .fd = -1}) !=
	    CHANNEL_DONE)
		downloads_dismiss(run, slot);
}

/* Gives the next download to an idle downloader. */
static void employ(struct downloads_run *run, size_t slot)
{
	const struct downloader_options options = {.urls = run->options->urls,
						   .caller = run->options->caller};
	struct error *err = NULL;

	while (run->next < run->count && !run->present[slot]) {
		struct download *download = &run->downloads[run->next++];

		if (!run->downloaders[slot])
			err = downloader_start(&options, &run->downloaders[slot]);
		if (err)
			downloads_fail(download, EAGAIN);
		else
			downloads_ask(run, slot, download);
		error_free(STEAL(err));
	}
}

static bool take_file(struct download *download, struct channel *channel)
{
	download->fd = channel_take_fd(channel);
	if (download->fd >= 0 &&
	    received_file_is_usable(download->fd, DOWNLOAD_BYTES_MAX, &download->bytes)) {
		download->state = DOWNLOAD_DONE;
		return true;
	}
	close_fd(&download->fd);
	download->fd = -1;
	return false;
}

static bool take_end(struct downloads_run *run, size_t slot, struct bytes message)
{
	struct download *download = STEAL(run->present[slot]);
	struct client_done done;

	if (!client_done_read(message, &done)) {
		downloads_fail(download, EPROTO);
		return false;
	}
	if (done.error)
		downloads_fail(download, (int)done.error);
	else if (!take_file(download, downloader_channel(run->downloaders[slot])))
		downloads_fail(download, EPROTO);
	download->path = done.path;
	download->url = done.url;
	download->is_from_cache = !done.url;
	return true;
}

/* Returns false if the downloader is unusable from now on. */
static bool downloads_take(struct downloads_run *run, size_t slot,
			   const struct channel_message *message)
{
	struct bytes from = bytes_of(message->bytes, message->len);
	struct download *download = run->present[slot];

	switch (message->kind) {
	case CLIENT_PROGRESS:
		return download &&
		       client_progress_read(from, &download->bytes, &download->total_bytes);
	case CLIENT_DONE:
		return download && take_end(run, slot, from);
	case CLIENT_NO_LIBRARY:
		run->lacks_library = true;
		break;
	}
	return false;
}

static void downloads_receive(struct downloads_run *run, size_t slot)
{
	struct channel_message message;

	for (unsigned i = 0; i < MESSAGES_PER_TICK && run->downloaders[slot]; i++) {
		switch (channel_receive(downloader_channel(run->downloaders[slot]), &message)) {
		case CHANNEL_BUSY:
			return;
		case CHANNEL_DONE:
			if (downloads_take(run, slot, &message))
				break;
			/* fall through */
		case CHANNEL_CLOSED:
		case CHANNEL_DAMAGED:
			downloads_dismiss(run, slot);
		}
		say_progress(run);
	}
}

static void wait_for_messages(struct downloads_run *run)
{
	struct pollfd polled[DOWNLOADS_AT_ONCE];

	for (size_t i = 0; i < DOWNLOADS_AT_ONCE; i++)
		polled[i] = (struct pollfd){
			.fd = run->present[i] ? channel_fd(downloader_channel(run->downloaders[i]))
					      : -1,
			.events = POLLIN,
		};
	poll(polled, DOWNLOADS_AT_ONCE, TICK_MS);
	for (size_t i = 0; i < DOWNLOADS_AT_ONCE; i++)
		if (polled[i].revents)
			downloads_receive(run, i);
}

static bool downloads_is_at_work(const struct downloads_run *run)
{
	for (size_t i = 0; i < DOWNLOADS_AT_ONCE; i++)
		if (run->present[i])
			return true;
	return run->next < run->count;
}

static enum downloads_end downloads_end_of(const struct downloads_run *run)
{
	const struct downloads_options *options = run->options;

	if (run->lacks_library)
		return DOWNLOADS_NO_LIBRARY;
	if (!downloads_is_at_work(run))
		return DOWNLOADS_DONE;
	return options->cancel && atomic_load(options->cancel) ? DOWNLOADS_CANCELLED
							       : DOWNLOADS_LATE;
}

static bool may_go_on(const struct downloads_run *run)
{
	const struct downloads_options *options = run->options;

	return !run->lacks_library && downloads_is_at_work(run) &&
	       !(options->cancel && atomic_load(options->cancel)) &&
	       clock_now_ns() < options->until_ns;
}

enum downloads_end downloads_run(const struct downloads_options *options,
				 struct download *downloads, size_t count)
{
	struct downloads_run run = {.options = options, .downloads = downloads, .count = count};
	enum downloads_end end;

	for (size_t i = 0; i < count; i++)
		downloads[i].fd = -1;
	while (may_go_on(&run)) {
		for (size_t i = 0; i < DOWNLOADS_AT_ONCE; i++)
			employ(&run, i);
		say_progress(&run);
		wait_for_messages(&run);
	}
	end = downloads_end_of(&run);
	downloaders_end(run.downloaders, DOWNLOADS_AT_ONCE);
	return end;
}
