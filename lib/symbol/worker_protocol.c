#include "symbol/worker_protocol.h"

#include "base/alloc.h"
#include "symbol/remote_opener.h"

#include <string.h>

/*
 * A module needs up to two questions for its debug file (by build-id and by
 * link), two for a supplementary file and two for a package of split units.
 * Each file has a few candidates.
 */
enum { QUESTIONS_PER_MODULE_MAX = 48 };

/*
 * Each address can be in another unit with a .dwo file, most of which need one
 * question. The limit corresponds to half a minute of answers for a malicious
 * worker.
 */
enum { QUESTIONS_PER_UNIT_MAX = 16, QUESTIONS_OF_UNITS_MAX = 1 << 18 };

/* At most half of the room is unused. */
enum { ROOM_BYTES_MIN = 4096 };

size_t kernel_image_write(const struct kernel_image *image,
			  unsigned char into[KERNEL_IMAGE_BYTES_MAX])
{
	unsigned char *at = into;

	*at++ = image->is_module;
	*at++ = (unsigned char)image->build_id.len;
	at = mempcpy(at, image->build_id.bytes, image->build_id.len);
	for (size_t i = 0; i < image->anchor_count; i++) {
		const struct kernel_anchor *anchor = &image->anchors[i];
		size_t len = strlen(anchor->name);

		at = mempcpy(at, &anchor->pc, sizeof(anchor->pc));
		*at++ = (unsigned char)len;
		at = mempcpy(at, anchor->name, len);
	}
	return (size_t)(at - into);
}

void kernel_image_read(struct bytes from, struct kernel_image *ret)
{
	struct bytes text;

	*ret = (struct kernel_image){.is_module = bytes_u8(&from)};
	text = bytes_sub(&from, bytes_u8(&from));
	if (bytes_left(&text) <= BUILD_ID_MAX) {
		ret->build_id.len = (unsigned)bytes_left(&text);
		bytes_append((char *)ret->build_id.bytes, text);
	}
	while (bytes_left(&from) && ret->anchor_count < KERNEL_ANCHORS_MAX) {
		struct kernel_anchor *anchor = &ret->anchors[ret->anchor_count++];

		anchor->pc = bytes_u64(&from);
		text = bytes_sub(&from, bytes_u8(&from));
		if (bytes_left(&text) < sizeof(anchor->name))
			bytes_append(anchor->name, text);
	}
}

static bool read_question(struct bytes from, struct worker_question *ret)
{
	*ret = (struct worker_question){.request = bytes_u32(&from)};
	return bytes_ok(&from) && remote_question_read(from, &ret->what, &ret->attempt, &ret->name);
}

static unsigned questions_max(size_t requests, size_t addresses)
{
	size_t of_units = addresses * QUESTIONS_PER_UNIT_MAX;

	if (of_units > QUESTIONS_OF_UNITS_MAX)
		of_units = QUESTIONS_OF_UNITS_MAX;
	return (unsigned)(requests * QUESTIONS_PER_MODULE_MAX + of_units);
}

void inbox_init(struct inbox *inbox, size_t requests, size_t addresses, size_t bytes_max)
{
	*inbox = (struct inbox){
		.replies = xcalloc(requests, sizeof(*inbox->replies)),
		.count = requests,
		.bytes_left = bytes_max,
		.questions_left = questions_max(requests, addresses),
	};
}

void inbox_deinit(struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->count; i++)
		free(inbox->replies[i].bytes);
	free(inbox->replies);
	*inbox = (struct inbox){0};
}

static void worker_protocol_append(struct inbox_reply *reply, struct bytes part)
{
	size_t len = bytes_left(&part);

	if (reply->room - reply->len < len) {
		reply->room = 2 * (reply->len + len);
		if (reply->room < ROOM_BYTES_MIN)
			reply->room = ROOM_BYTES_MIN;
		reply->bytes = xreallocarray(reply->bytes, reply->room, 1);
	}
	if (len)
		memcpy(reply->bytes + reply->len, part.at, len);
	reply->len += len;
}

static enum inbox_event worker_protocol_take_part(struct inbox *inbox, struct bytes from,
						  uint32_t *request)
{
	struct inbox_reply *reply;
	unsigned is_last;

	*request = bytes_u32(&from);
	is_last = bytes_u8(&from);
	if (!bytes_ok(&from) || is_last > 1 || *request >= inbox->count ||
	    bytes_left(&from) > inbox->bytes_left)
		return INBOX_NONSENSE;
	reply = &inbox->replies[*request];
	if (reply->is_whole || (!is_last && !bytes_left(&from)))
		return INBOX_NONSENSE;
	inbox->bytes_left -= bytes_left(&from);
	worker_protocol_append(reply, from);
	reply->is_whole = is_last;
	return is_last ? INBOX_REPLY : INBOX_PART;
}

static enum inbox_event worker_protocol_take_question(struct inbox *inbox, struct bytes from,
						      struct worker_question *question)
{
	if (!inbox->questions_left)
		return INBOX_NONSENSE;
	inbox->questions_left--;
	if (read_question(from, question) && question->request < inbox->count)
		return INBOX_QUESTION;
	free(question->name);
	return INBOX_NONSENSE;
}

static bool are_whole(const struct inbox *inbox)
{
	for (size_t i = 0; i < inbox->count; i++)
		if (!inbox->replies[i].is_whole)
			return false;
	return true;
}

enum inbox_event inbox_take(struct inbox *inbox, const struct channel_message *message,
			    uint32_t *request, struct worker_question *question)
{
	struct bytes from = bytes_of(message->bytes, message->len);

	switch (message->kind) {
	case MESSAGE_PART:
		return worker_protocol_take_part(inbox, from, request);
	case MESSAGE_QUESTION:
		return worker_protocol_take_question(inbox, from, question);
	case MESSAGE_DONE:
		return are_whole(inbox) ? INBOX_DONE : INBOX_NONSENSE;
	}
	return INBOX_NONSENSE;
}
