#include "symbol/worker_protocol.h"

#include "symbol/remote_opener.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

enum { REQUESTS = 3, BYTES_MAX = 10 };

static enum inbox_event take(struct inbox *inbox, uint32_t kind, const void *bytes, size_t len)
{
	struct worker_question question;
	enum inbox_event event;
	uint32_t request;

	event = inbox_take(
		inbox,
		&(struct channel_message){.kind = kind, .bytes = bytes, .len = len, .fd = -1},
		&request, &question);
	if (event == INBOX_QUESTION)
		free(question.name);
	return event;
}

static enum inbox_event take_part(struct inbox *inbox, uint32_t request, unsigned is_last,
				  const char *text)
{
	unsigned char bytes[64];
	unsigned char *at = mempcpy(bytes, &request, sizeof(request));

	*at++ = (unsigned char)is_last;
	at = mempcpy(at, text, strlen(text));
	return take(inbox, MESSAGE_PART, bytes, (size_t)(at - bytes));
}

static struct inbox new_inbox(void)
{
	struct inbox inbox;

	inbox_init(&inbox, REQUESTS, 0, BYTES_MAX);
	return inbox;
}

TEST(replies_may_come_in_parts_and_in_any_order)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();

	assert_int_equal(take_part(&inbox, 2, 0, "ab"), INBOX_PART);
	assert_int_equal(take_part(&inbox, 0, 1, "xyz"), INBOX_REPLY);
	assert_int_equal(take_part(&inbox, 2, 1, "c"), INBOX_REPLY);
	assert_int_equal(inbox.replies[2].len, 3);
	assert_memory_equal(inbox.replies[2].bytes, "abc", 3);
	assert_int_equal(take_part(&inbox, 1, 1, ""), INBOX_REPLY);
	assert_int_equal(take(&inbox, MESSAGE_DONE, NULL, 0), INBOX_DONE);
}

TEST(a_worker_is_not_done_before_all_replies_are_whole)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();

	assert_int_equal(take_part(&inbox, 0, 1, "x"), INBOX_REPLY);
	assert_int_equal(take_part(&inbox, 1, 1, "x"), INBOX_REPLY);
	assert_int_equal(take_part(&inbox, 2, 0, "x"), INBOX_PART);
	assert_int_equal(take(&inbox, MESSAGE_DONE, NULL, 0), INBOX_NONSENSE);
}

TEST(more_bytes_than_the_limit_are_refused)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();

	assert_int_equal(take_part(&inbox, 0, 0, "12345"), INBOX_PART);
	assert_int_equal(take_part(&inbox, 1, 1, "12345"), INBOX_REPLY);
	assert_int_equal(take_part(&inbox, 0, 1, "1"), INBOX_NONSENSE);
}

TEST(parts_of_nothing_are_refused)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();

	assert_int_equal(take_part(&inbox, REQUESTS, 1, "x"), INBOX_NONSENSE);
	assert_int_equal(take_part(&inbox, 0, 2, "x"), INBOX_NONSENSE);
	assert_int_equal(take_part(&inbox, 0, 0, ""), INBOX_NONSENSE);
	assert_int_equal(take_part(&inbox, 0, 1, "x"), INBOX_REPLY);
	assert_int_equal(take_part(&inbox, 0, 1, "x"), INBOX_NONSENSE);
	assert_int_equal(take(&inbox, MESSAGE_PART, "abcd", 4), INBOX_NONSENSE);
	assert_int_equal(take(&inbox, MESSAGE_ANSWER, "", 0), INBOX_NONSENSE);
	assert_int_equal(take(&inbox, 12345, "", 0), INBOX_NONSENSE);
}

TEST(a_question_arrives_as_it_was_asked)
{
	static const struct debugfile_question asked[] = {
		{.kind = DEBUGFILE_BY_BUILD_ID, .build_id = {.bytes = {1, 0, 3}, .len = 3}},
		{.kind = DEBUGFILE_BY_LINK, .name = "x.debug"},
		{.kind = DEBUGFILE_BY_PATH, .name = "/usr/lib/debug/.dwz/y"},
	};
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();
	static unsigned char bytes[CHANNEL_BYTES];

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		const uint32_t from = 2;
		unsigned char *at = mempcpy(bytes, &from, sizeof(from));
		struct channel_message message = {
			.kind = MESSAGE_QUESTION, .bytes = bytes, .fd = -1};
		struct worker_question got;
		uint32_t request;

		message.len = sizeof(from) + remote_question_write(&asked[i], 5, at);
		assert_int_equal(inbox_take(&inbox, &message, &request, &got), INBOX_QUESTION);
		assert_int_equal(got.request, 2);
		assert_int_equal(got.attempt, 5);
		assert_int_equal(got.what.kind, asked[i].kind);
		if (asked[i].name)
			assert_string_equal(got.what.name, asked[i].name);
		else
			assert_true(build_id_equal(&got.what.build_id, &asked[i].build_id));
		free(got.name);
	}
}

static enum inbox_event ask(struct inbox *inbox, uint32_t request, unsigned char kind,
			    const char *name, size_t len)
{
	static unsigned char bytes[CHANNEL_BYTES];
	const uint32_t attempt = 0;
	unsigned char *at = mempcpy(bytes, &request, sizeof(request));

	*at++ = kind;
	at = mempcpy(at, &attempt, sizeof(attempt));
	at = mempcpy(at, name, len);
	return take(inbox, MESSAGE_QUESTION, bytes, (size_t)(at - bytes));
}

TEST(questions_that_are_none_are_refused)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();
	static char name[2 * PATH_MAX];

	memset(name, 'x', sizeof(name));
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_LINK, "x", 1), INBOX_QUESTION);
	assert_int_equal(ask(&inbox, REQUESTS, DEBUGFILE_BY_LINK, "x", 1), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, 7, "x", 1), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_LINK, "x\0y", 3), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_LINK, "a/b", 3), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_LINK, "", 0), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_LINK, name, PATH_MAX), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_PATH, "/a/../b", 7), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_BUILD_ID, "x", 1), INBOX_NONSENSE);
	assert_int_equal(ask(&inbox, 0, DEBUGFILE_BY_BUILD_ID, name, BUILD_ID_MAX + 1),
			 INBOX_NONSENSE);
	assert_int_equal(take(&inbox, MESSAGE_QUESTION, "12345678", 8), INBOX_NONSENSE);
}

TEST(a_worker_may_not_ask_for_ever)
{
	CLEANUP(inbox_deinit) struct inbox inbox = new_inbox();
	unsigned asked = 0;

	while (ask(&inbox, 0, DEBUGFILE_BY_LINK, "x", 1) == INBOX_QUESTION)
		assert_true(++asked < 1000);
}
