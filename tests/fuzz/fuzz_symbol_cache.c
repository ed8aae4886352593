/*
 * Fuzzes an entry of the symbol cache, with any CRC-32 and a fixed key. The
 * reply of a valid entry is decoded, and cut into parts.
 */
#include "symbol/cache_entry.h"
#include "symbol/remote_opener.h"
#include "symbol/reply_part.h"

#include "base/alloc.h"
#include "base/gzip.h"

#include "replay.h"

enum { HEAD_BYTES = 8 + 4, PARTS_MAX = 64 };

static void ask(const struct cache_answer *answer)
{
	CLEANUP(free_ptr) char *name = NULL;
	struct debugfile_question question;
	uint32_t attempt;

	if (remote_question_read(answer->question, &question, &attempt, &name) &&
	    !debugfile_question_is_valid(&question))
		__builtin_trap();
}

static void cut(const struct reply *reply, size_t count)
{
	for (uint32_t i = 0; i < count && i < PARTS_MAX; i++) {
		const struct reply_pick pick = {reply, i};
		CLEANUP(reply_cleanup) struct reply *part = reply_part(reply, &pick, 1);
		struct reply_line lines[REPLY_LINES_MAX], own[REPLY_LINES_MAX];
		unsigned found = reply_lines(reply, i, lines);

		if (!part || reply_lines(part, 0, own) != found)
			__builtin_trap();
		for (unsigned line = 0; line < found; line++)
			if (own[line].line != lines[line].line)
				__builtin_trap();
	}
}

static void use(const struct cache_entry *entry)
{
	size_t len = bytes_left(&entry->reply);
	void *copy = xmalloc(len ? len : 1);
	CLEANUP(reply_cleanup) struct reply *reply = NULL;

	if (len)
		memcpy(copy, entry->reply.at, len);
	reply = reply_read(copy, len, entry->count);
	note_number("reply", reply != NULL);
	for (size_t i = 0; i < entry->answer_count; i++)
		ask(&entry->answers[i]);
	if (reply)
		cut(reply, entry->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(cache_entry_deinit) struct cache_entry entry = {0};
	unsigned char *copy;
	uint32_t sum;

	if (size < HEAD_BYTES)
		return 0;
	copy = xmalloc(size);
	memcpy(copy, data, size);
	sum = crc32_of(bytes_of(copy + HEAD_BYTES, size - HEAD_BYTES));
	memcpy(copy + 8, &sum, sizeof(sum));
	if (!cache_entry_read(copy, size, bytes_of("key", 3), &entry))
		return 0;
	note_number("addresses", entry.count);
	note_number("answers", entry.answer_count);
	use(&entry);
	return 0;
}
