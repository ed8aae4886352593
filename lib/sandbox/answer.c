#include "sandbox/answer.h"

#include "base/alloc.h"

#include <poll.h>
#include <string.h>

/* Maximum time without progress, and the interval of its checks. */
enum { STANDSTILL_MS = 10000, TICK_MS = 50 };
enum { TEXT_BYTES_MAX = 4096 };

enum { ANSWER_PART = 1, ANSWER_DONE, ANSWER_FAILED /* text */, ANSWER_HINT /* before it */ };

/* ---- Functions of the confined process ---- */

static bool send_one(struct channel *channel, uint32_t kind, const void *bytes, size_t len)
{
	struct channel_message message = {.kind = kind, .bytes = bytes, .len = len, .fd = -1};

	return channel_send(channel, &message) == CHANNEL_DONE;
}

void answer_send(struct channel *channel, const void *bytes, size_t len)
{
	const char *at = bytes, *end = at + len;

	while (at < end) {
		size_t part = end - at < CHANNEL_BYTES ? (size_t)(end - at) : CHANNEL_BYTES;

		if (!send_one(channel, ANSWER_PART, at, part))
			return;
		at += part;
	}
	send_one(channel, ANSWER_DONE, "", 0);
}

void answer_send_error(struct channel *channel, const struct error *err)
{
	const char *text = error_text(err), *hint = error_hint_text(err);

	if (hint)
		send_one(channel, ANSWER_HINT, hint, strnlen(hint, TEXT_BYTES_MAX));
	send_one(channel, ANSWER_FAILED, text, strnlen(text, TEXT_BYTES_MAX));
}

/* ---- Functions of prof ---- */

struct inbox {
	const struct answer_options *options;
	struct confined *process;
	char *bytes, *hint;
	size_t len, room;
	bool is_done;
};

static void inbox_deinit(struct inbox *inbox)
{
	if (inbox->process)
		confined_end(inbox->process);
	free(inbox->bytes);
	free(inbox->hint);
}

struct error *answer_nonsense(const struct answer_options *options)
{
	return error_new("the process that reads %s sent an invalid message", options->what);
}

static bool answer_append(struct inbox *inbox, const struct channel_message *message)
{
	if (!message->len || message->len > inbox->options->bytes_max - inbox->len)
		return false;
	if (message->len > inbox->room - inbox->len) {
		inbox->room = 2 * (inbox->len + message->len);
		inbox->bytes = xreallocarray(inbox->bytes, inbox->room, 1);
	}
	memcpy(inbox->bytes + inbox->len, message->bytes, message->len);
	inbox->len += message->len;
	return true;
}

static bool take_other(const struct inbox *inbox, const struct channel_message *message)
{
	const struct answer_options *options = inbox->options;

	return message->kind >= ANSWER_OTHER_KINDS && options->take &&
	       options->take(options->user, confined_channel(inbox->process), message);
}

static struct error *answer_take(struct inbox *inbox, const struct channel_message *message)
{
	struct error *err;

	switch (message->kind) {
	case ANSWER_PART:
		if (answer_append(inbox, message))
			return NULL;
		break;
	case ANSWER_DONE:
		inbox->is_done = true;
		return NULL;
	case ANSWER_HINT:
		if (inbox->hint)
			break;
		inbox->hint = xstrndup(message->bytes, message->len);
		return NULL;
	case ANSWER_FAILED:
		err = error_new("%.*s", (int)message->len, (const char *)message->bytes);
		return inbox->hint ? error_hint(err, "%s", inbox->hint) : err;
	default:
		if (take_other(inbox, message))
			return NULL;
	}
	return answer_nonsense(inbox->options);
}

/* Waits for a message. A process that waits for a CPU makes progress, so the
 * limit does not apply on a busy machine. */
static struct error *answer_await_message(const struct inbox *inbox)
{
	const struct answer_options *options = inbox->options;
	const unsigned most_ms = options->standstill_ms ? options->standstill_ms : STANDSTILL_MS;
	struct pollfd ready = {.fd = channel_fd(confined_channel(inbox->process)),
			       .events = POLLIN};
	uint64_t used_ns = confined_cpu_ns(inbox->process);

	for (unsigned idle_ms = 0; idle_ms < most_ms || confined_wants_cpu(inbox->process);
	     idle_ms += TICK_MS) {
		uint64_t now_ns;

		if (poll(&ready, 1, TICK_MS) > 0)
			return NULL;
		if (options->cancel && atomic_load(options->cancel))
			return error_new("reading %s was cancelled", options->what);
		now_ns = confined_cpu_ns(inbox->process);
		if (now_ns != used_ns)
			idle_ms = 0;
		used_ns = now_ns;
	}
	return error_new("the process that reads %s makes no progress", options->what);
}

static struct error *ended_early(struct inbox *inbox)
{
	const char *what = inbox->options->what;

	switch (confined_end(STEAL(inbox->process)).outcome) {
	case CONFINED_OUT_OF_MEMORY:
		return error_new("reading %s takes too much memory", what);
	case CONFINED_OUT_OF_TIME:
		return error_new("reading %s takes longer than %u s", what,
				 inbox->options->limits.cpu_seconds);
	default:
		return error_new("the process that reads %s died", what);
	}
}

static struct error *answer_receive(struct inbox *inbox)
{
	struct channel_message message;

	switch (channel_receive(confined_channel(inbox->process), &message)) {
	case CHANNEL_DONE:
		return answer_take(inbox, &message);
	case CHANNEL_BUSY:
		return answer_await_message(inbox);
	case CHANNEL_CLOSED:
		return ended_early(inbox);
	default:
		return answer_nonsense(inbox->options);
	}
}

struct error *answer_ask(const struct answer_options *options, confined_main *main, void *argument,
			 char **bytes, size_t *len)
{
	CLEANUP(inbox_deinit) struct inbox inbox = {.options = options};
	struct error *err = confined_start(&options->limits, CONFINED_NOBODY, main, argument,
					   &inbox.process);

	while (!err && !inbox.is_done)
		err = answer_receive(&inbox);
	if (err)
		return err;
	*len = inbox.len;
	*bytes = STEAL(inbox.bytes);
	return NULL;
}
