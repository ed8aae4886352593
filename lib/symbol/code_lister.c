#include "symbol/code_lister.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "elf/disassembly.h"
#include "sandbox/confined.h"
#include "symbol/remote_opener.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

/* The symbols of the largest programs take 200 MB, capstone's detail of a large function 50 MB. */
enum { MEMORY_BYTES = 512 << 20, CPU_SECONDS = 10 };

/* 400,000 instructions. */
enum { LISTING_BYTES_MAX = 16 << 20 };

/* How long it may neither use CPU time nor send anything, and how often that is looked at. */
enum { STANDSTILL_MS = 10000, TICK_MS = 100 };

/* A program asks for at most four debug files, each of a few candidates. */
enum { QUESTIONS_MAX = 64 };

enum { LISTING_PART = 1, LISTING_DONE, LISTING_FAILED /* text */ };

static void send(struct channel *channel, uint32_t kind, const char *bytes, size_t len)
{
	size_t part;

	do {
		part = len < CHANNEL_BYTES ? len : CHANNEL_BYTES;
		if (channel_send(channel,
				 &(struct channel_message){
					 .kind = kind, .bytes = bytes, .len = part, .fd = -1}) !=
		    CHANNEL_DONE)
			return;
		bytes += part;
		len -= part;
	} while (len);
}

/* The confined process. */
static void list(struct channel *channel, void *user)
{
	struct code_listing_request request = *(const struct code_listing_request *)user;
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len;
	struct error *err;

	request.opener = remote_opener(channel);
	err = code_listing_write(&request, &bytes, &len);
	if (err) {
		send(channel, LISTING_FAILED, error_text(err), strlen(error_text(err)));
		return;
	}
	send(channel, LISTING_PART, bytes, len);
	send(channel, LISTING_DONE, "", 0);
}

/* What has come from the process. */
struct inbox {
	struct confined *process;
	const struct debugfile_opener *opener;
	char *bytes;
	size_t len, room;
	unsigned questions;
	bool is_done;
};

/* Waits for a message; false if it stands still. The clock says nothing about a busy machine. */
static bool await_message(struct inbox *inbox)
{
	struct pollfd ready = {.fd = channel_fd(confined_channel(inbox->process)),
			       .events = POLLIN};
	uint64_t used_ns = confined_cpu_ns(inbox->process);

	for (int idle_ms = 0; idle_ms < STANDSTILL_MS; idle_ms += TICK_MS) {
		uint64_t now_ns;

		if (poll(&ready, 1, TICK_MS) > 0)
			return true;
		now_ns = confined_cpu_ns(inbox->process);
		if (now_ns != used_ns)
			idle_ms = 0;
		used_ns = now_ns;
	}
	return false;
}

static bool append(struct inbox *inbox, const struct channel_message *message)
{
	if (message->len > LISTING_BYTES_MAX - inbox->len)
		return false;
	if (message->len > inbox->room - inbox->len) {
		inbox->room = 2 * (inbox->len + message->len);
		inbox->bytes = xreallocarray(inbox->bytes, inbox->room, 1);
	}
	if (message->len)
		memcpy(inbox->bytes + inbox->len, message->bytes, message->len);
	inbox->len += message->len;
	return true;
}

static struct error *take(struct inbox *inbox, const struct channel_message *message)
{
	switch (message->kind) {
	case LISTING_PART:
		if (append(inbox, message))
			return NULL;
		break;
	case LISTING_DONE:
		inbox->is_done = true;
		return NULL;
	case LISTING_FAILED:
		return error_new("%.*s", (int)message->len, (const char *)message->bytes);
	case REMOTE_OPENER_QUESTION:
		if (inbox->questions++ < QUESTIONS_MAX &&
		    remote_opener_answer(confined_channel(inbox->process), message, inbox->opener))
			return NULL;
		break;
	}
	return error_new("the process that reads it sent nonsense");
}

static struct error *ended_early(struct inbox *inbox)
{
	struct confined_end end = confined_end(STEAL(inbox->process));

	switch (end.outcome) {
	case CONFINED_OUT_OF_MEMORY:
		return error_new("reading it takes too much memory");
	case CONFINED_OUT_OF_TIME:
		return error_new("reading it takes longer than %d s", CPU_SECONDS);
	default:
		return error_new("the process that reads it died");
	}
}

static struct error *receive(struct inbox *inbox)
{
	struct channel_message message;
	struct error *err = NULL;

	while (!err && !inbox->is_done) {
		switch (channel_receive(confined_channel(inbox->process), &message)) {
		case CHANNEL_DONE:
			err = take(inbox, &message);
			break;
		case CHANNEL_BUSY:
			if (!await_message(inbox))
				err = error_new("the process that reads it stands still");
			break;
		case CHANNEL_CLOSED:
			return ended_early(inbox);
		case CHANNEL_DAMAGED:
			err = error_new("the process that reads it sent nonsense");
			break;
		}
	}
	return err;
}

static void inbox_deinit(struct inbox *inbox)
{
	if (inbox->process)
		confined_end(inbox->process);
	free(inbox->bytes);
}

struct error *code_lister_run(const struct code_listing_request *request, struct code_listing **ret)
{
	const struct confined_limits limits = {.memory_bytes = MEMORY_BYTES,
					       .cpu_seconds = CPU_SECONDS};
	CLEANUP(inbox_deinit) struct inbox inbox = {.opener = &request->opener};
	struct error *err = disassembly_load();

	if (!err)
		err = confined_start(&limits, CONFINED_NOBODY, list, (void *)request,
				     &inbox.process);
	if (!err)
		err = receive(&inbox);
	if (!err) {
		*ret = code_listing_read(STEAL(inbox.bytes), inbox.len);
		if (!*ret)
			err = error_new("the process that reads it sent nonsense");
	}
	return error_wrap(err, "disassemble %s", elf_file_name(request->elf));
}
