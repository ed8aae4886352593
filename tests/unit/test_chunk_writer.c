#include "base/chunk_writer.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include "unit_test.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { BYTES = 5000000 };

static unsigned char byte_at(size_t at)
{
	return (unsigned char)(at * 2654435761u >> 24);
}

/* Chunks that take longer must not be overtaken. */
static size_t complement(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	if (room < len)
		return 0;
	for (unsigned i = 0; i < 1 + data[0] / 64u; i++)
		for (size_t at = 0; at < len; at++)
			made[at] = (unsigned char)~data[at];
	return len;
}

static size_t make_nothing(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	(void)data, (void)len, (void)made, (void)room;
	return 0;
}

/* Writes pieces of many sizes, some larger than a chunk. */
static bool put_bytes(struct chunk_writer *writer, size_t count)
{
	CLEANUP(free_ptr) unsigned char *data = xmalloc(count);
	bool is_fine = true;

	for (size_t i = 0; i < count; i++)
		data[i] = byte_at(i);
	for (size_t at = 0, len = 1; at < count; at += len, len = len * 3 % 400009) {
		len = len < count - at ? len : count - at;
		is_fine = chunk_writer_put(writer, data + at, len) && is_fine;
	}
	return is_fine;
}

static void assert_relayed(chunk_writer_work *work, size_t count, unsigned char mask)
{
	CLEANUP(free_ptr) char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	struct chunk_writer *writer = chunk_writer_new(out, work);

	assert_true(put_bytes(writer, count));
	assert_true(chunk_writer_finish(writer));
	fclose(out);
	assert_int_equal(len, count);
	for (size_t i = 0; i < count; i++)
		if ((unsigned char)text[i] != (byte_at(i) ^ mask))
			fail_msg("byte %zu is another", i);
}

TEST(bytes_arrive_in_order)
{
	assert_relayed(NULL, 0, 0);
	assert_relayed(NULL, 1, 0);
	assert_relayed(NULL, BYTES, 0);
}

TEST(processed_chunks_arrive_in_order)
{
	assert_relayed(complement, 0, 0xff);
	assert_relayed(complement, 1, 0xff);
	assert_relayed(complement, BYTES, 0xff);
}

TEST(a_full_disk_is_an_error_at_the_end_and_soon_before)
{
	CLEANUP(close_file) FILE *full = fopen("/dev/full", "w");
	struct chunk_writer *writer = chunk_writer_new(full, complement);

	setvbuf(full, NULL, _IONBF, 0);
	assert_false(put_bytes(writer, BYTES));
	assert_false(chunk_writer_finish(writer));
	assert_int_equal(errno, ENOSPC);
}

TEST(a_failed_chunk_is_an_error)
{
	CLEANUP(close_file) FILE *out = fopen("/dev/null", "w");
	struct chunk_writer *writer = chunk_writer_new(out, make_nothing);

	put_bytes(writer, 1);
	assert_false(chunk_writer_finish(writer));
	assert_int_equal(errno, ENOMEM);
}
