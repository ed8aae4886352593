/*
 * Fuzzes the messages of a symbol worker: length (one byte), kind (one byte),
 * contents, and so on. The number of parts of a reply is limited. Each complete
 * message is read as a reply.
 */
#include "symbol/reply.h"
#include "symbol/worker_protocol.h"

#include "base/alloc.h"

enum { REQUESTS = 4, ADDRESSES = 3, BYTES_MAX = 1 << 20 };

static void use(const struct reply *reply)
{
	struct reply_line lines[REPLY_LINES_MAX];

	for (size_t i = 0; i < ADDRESSES; i++)
		for (unsigned line = reply_lines(reply, i, lines); line--;) {
			struct reply_function function = reply_function(reply,
									lines[line].function);
			struct bytes name = reply_string(reply, function.name);
			struct bytes file = reply_string(reply, function.file);

			if (!bytes_ok(&name) || !bytes_ok(&file))
				__builtin_trap();
		}
}

static void read_reply(struct inbox_reply *whole)
{
	CLEANUP(reply_cleanup)
	struct reply *reply = reply_read(STEAL(whole->bytes), whole->len, ADDRESSES);

	if (reply)
		use(reply);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(inbox_deinit) struct inbox inbox = {0};
	struct bytes from = bytes_of(data, size);
	enum inbox_event event = INBOX_PART;

	inbox_init(&inbox, REQUESTS, 0, BYTES_MAX);
	while (bytes_left(&from) && event != INBOX_NONSENSE && event != INBOX_DONE) {
		size_t len = bytes_u8(&from);
		uint32_t kind = bytes_u8(&from);
		struct bytes message = bytes_sub(&from, len);
		struct worker_question question;
		uint32_t request;

		event = inbox_take(&inbox,
				   &(struct channel_message){.kind = kind,
							     .bytes = message.at,
							     .len = bytes_left(&message),
							     .fd = -1},
				   &request, &question);
		if (event == INBOX_REPLY)
			read_reply(&inbox.replies[request]);
		if (event == INBOX_QUESTION) {
			if (!debugfile_question_is_valid(&question.what))
				__builtin_trap();
			free(question.name);
		}
	}
	return 0;
}
