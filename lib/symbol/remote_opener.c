#include "symbol/remote_opener.h"

#include "base/alloc.h"

#include <string.h>

/*
 * A question consists of kind (u8), attempt (u32), and build-id or name. An
 * answer consists of a path, with the descriptor.
 */
enum { REMOTE_OPENER_HEAD_BYTES = 1 + sizeof(uint32_t) };

size_t remote_question_write(const struct debugfile_question *question, uint32_t attempt,
			     unsigned char into[REMOTE_QUESTION_BYTES_MAX])
{
	bool by_id = question->kind == DEBUGFILE_BY_BUILD_ID;
	const void *bytes = by_id ? (const void *)question->build_id.bytes : question->name;
	size_t len = by_id ? question->build_id.len : strlen(question->name);

	*into = (unsigned char)question->kind;
	memcpy(into + 1, &attempt, sizeof(attempt));
	memcpy(into + REMOTE_OPENER_HEAD_BYTES, bytes, len);
	return REMOTE_OPENER_HEAD_BYTES + len;
}

bool remote_question_read(struct bytes from, struct debugfile_question *ret, uint32_t *attempt,
			  char **name)
{
	size_t len;

	memset(ret, 0, sizeof(*ret));
	ret->kind = bytes_u8(&from);
	*attempt = bytes_u32(&from);
	len = bytes_left(&from);
	if (!bytes_ok(&from) || ret->kind > DEBUGFILE_BY_PATH)
		return false;
	if (ret->kind == DEBUGFILE_BY_BUILD_ID) {
		if (len > BUILD_ID_MAX)
			return false;
		memcpy(ret->build_id.bytes, from.at, len);
		ret->build_id.len = (unsigned)len;
	} else {
		if (memchr(from.at, '\0', len))
			return false;
		ret->name = *name = xstrndup((const char *)from.at, len);
	}
	return debugfile_question_is_valid(ret);
}

static int remote_opener_ask(void *user, const struct debugfile_question *question,
			     unsigned attempt, char **path)
{
	struct channel *channel = user;
	unsigned char bytes[REMOTE_QUESTION_BYTES_MAX];
	struct channel_message message = {.kind = REMOTE_OPENER_QUESTION, .bytes = bytes, .fd = -1};

	message.len = remote_question_write(question, attempt, bytes);
	if (channel_send(channel, &message) != CHANNEL_DONE ||
	    channel_receive(channel, &message) != CHANNEL_DONE || message.fd < 0)
		return -1;
	*path = xstrndup(message.bytes, message.len);
	return channel_take_fd(channel);
}

struct debugfile_opener remote_opener(struct channel *channel)
{
	return (struct debugfile_opener){.open = remote_opener_ask, .user = channel};
}

bool remote_opener_answer(struct channel *channel, const struct channel_message *question,
			  const struct debugfile_opener *opener)
{
	CLEANUP(free_ptr) char *name = NULL, *path = NULL;
	CLEANUP(close_fd) int fd = -1;
	struct debugfile_question what;
	uint32_t attempt;

	if (!remote_question_read(bytes_of(question->bytes, question->len), &what, &attempt, &name))
		return false;
	fd = opener->open(opener->user, &what, attempt, &path);
	/* The process waits only for this answer, so there is room. */
	return channel_send(channel, &(struct channel_message){.kind = REMOTE_OPENER_ANSWER,
							       .bytes = path,
							       .len = path ? strlen(path) : 0,
							       .fd = fd}) == CHANNEL_DONE;
}
