#include "symbol/cache_entry.h"
#include "symbol/reply_part.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <string.h>

static const struct symbolized_line some_calls[] = {
	{.name = "inner()", .system_name = "_Z5innerv", .file = "/src/a.c", .line = 7},
	{.name = "outer", .system_name = "outer", .file = "", .start_line = 3, .line = 300},
	{.name = "other", .system_name = "other", .file = "/src/b.c", .line = 1},
};

static const struct symbolized some_lines[] = {{.lines = some_calls + 2, .count = 1},
					       {.lines = some_calls, .count = 2},
					       {.into_function = 300},
					       {.lines = some_calls + 1, .count = 1}};

static const uint64_t some_addresses[] = {0x1000, 0x1001, 0x2000, 0xfffffffffffffff0};

enum { ADDRESSES = ARRAY_SIZE(some_lines) };

static const char some_key[] = "key";

static struct reply *reply_of(const struct symbolized *lines, size_t count)
{
	size_t len;
	void *bytes = reply_write(&(struct engine_result){.lines = lines,
							  .symbols = SOURCE_EXPORTED_SYMBOLS,
							  .sources = {.present = NAMES_DWARF}},
				  count, &len);

	return reply_read(bytes, len, count);
}

static void assert_equal_bytes(struct bytes a, struct bytes b)
{
	assert_int_equal(bytes_left(&a), bytes_left(&b));
	assert_memory_equal(a.at, b.at, bytes_left(&a));
}

TEST(a_part_of_a_reply_is_the_reply_for_its_addresses)
{
	CLEANUP(reply_cleanup) struct reply *whole = reply_of(some_lines, ADDRESSES);
	CLEANUP(reply_cleanup) struct reply *other = reply_of(some_lines, ADDRESSES);

	for (uint32_t from = 0; from < ADDRESSES; from++)
		for (uint32_t to = from; to <= ADDRESSES; to++) {
			const struct reply_pick picks[] = {{whole, from},
							   {other, from + 1},
							   {whole, from + 2},
							   {other, from + 3}};
			CLEANUP(reply_cleanup)
			struct reply *part = reply_part(whole, picks, to - from);
			CLEANUP(reply_cleanup)
			struct reply *expected = reply_of(some_lines + from, to - from);

			assert_equal_bytes(reply_bytes(part), reply_bytes(expected));
		}
}

static void *entry_of(const struct reply *reply, size_t *len)
{
	struct cache_answer answers[] = {
		{.question = bytes_of("found", 5),
		 .found = true,
		 .version = {.inode = 7, .changed_ns = -1},
		 .path = bytes_of("/x", 2)},
		{.question = bytes_of("missing", 7)},
	};

	return cache_entry_write(&(struct cache_entry){.answers = answers,
						       .answer_count = ARRAY_SIZE(answers),
						       .addresses = some_addresses,
						       .count = ADDRESSES,
						       .reply = reply_bytes(reply)},
				 bytes_of(some_key, sizeof(some_key)), len);
}

/* Reads a copy of exactly len bytes. */
static bool is_read(const void *data, size_t len, const char *key, struct cache_entry *ret)
{
	void *copy = xmalloc(len ? len : 1);

	if (len)
		memcpy(copy, data, len);
	return cache_entry_read(copy, len, bytes_of(key, strlen(key) + 1), ret);
}

TEST(an_entry_has_what_was_written)
{
	CLEANUP(reply_cleanup) struct reply *reply = reply_of(some_lines, ADDRESSES);
	CLEANUP(cache_entry_deinit) struct cache_entry entry;
	size_t len;
	CLEANUP(free_ptr) void *data = entry_of(reply, &len);

	assert_true(is_read(data, len, some_key, &entry));
	assert_int_equal(entry.count, ADDRESSES);
	assert_memory_equal(entry.addresses, some_addresses, sizeof(some_addresses));
	assert_equal_bytes(entry.reply, reply_bytes(reply));
	assert_int_equal(entry.answer_count, 2);
	assert_equal_bytes(entry.answers[0].question, bytes_of("found", 5));
	assert_true(entry.answers[0].found);
	assert_int_equal(entry.answers[0].version.inode, 7);
	assert_int_equal(entry.answers[0].version.changed_ns, -1);
	assert_equal_bytes(entry.answers[0].path, bytes_of("/x", 2));
	assert_false(entry.answers[1].found);
}

TEST(an_entry_with_one_wrong_byte_or_another_key_is_refused)
{
	CLEANUP(reply_cleanup) struct reply *reply = reply_of(some_lines, ADDRESSES);
	struct cache_entry entry;
	size_t len;
	CLEANUP(free_ptr) unsigned char *data = entry_of(reply, &len);
	CLEANUP(free_ptr) unsigned char *longer = xcalloc(1, len + 1);

	memcpy(longer, data, len);
	assert_false(is_read(longer, len + 1, some_key, &entry));
	assert_false(is_read(data, len, "kex", &entry));
	for (size_t i = 0; i < len; i++) {
		assert_false(is_read(data, i, some_key, &entry));
		data[i] ^= 1;
		assert_false(is_read(data, len, some_key, &entry));
		data[i] ^= 1;
	}
}
