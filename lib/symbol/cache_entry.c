#include "symbol/cache_entry.h"

#include "base/alloc.h"
#include "base/gzip.h"

#include <stdio.h>
#include <string.h>

static const char cache_entry_magic[8] = "profsym1";

enum {
	CACHE_ENTRY_HEAD_BYTES = sizeof(cache_entry_magic) + sizeof(uint32_t),
	CACHE_ANSWER_BYTES_MIN = 4 + 1 + sizeof(struct file_version) + 4,
};

static void cache_entry_put(FILE *out, const void *data, size_t len)
{
	if (len)
		fwrite(data, len, 1, out);
}

static void cache_entry_put_number(FILE *out, size_t number)
{
	uint32_t value = (uint32_t)number;

	cache_entry_put(out, &value, sizeof(value));
}

static void cache_entry_put_sized(FILE *out, struct bytes bytes)
{
	cache_entry_put_number(out, bytes_left(&bytes));
	cache_entry_put(out, bytes.at, bytes_left(&bytes));
}

static void cache_entry_put_answer(FILE *out, const struct cache_answer *answer)
{
	cache_entry_put_sized(out, answer->question);
	putc(answer->found, out);
	cache_entry_put(out, &answer->version, sizeof(answer->version));
	cache_entry_put_sized(out, answer->path);
}

static void cache_entry_put_all(FILE *out, const struct cache_entry *entry, struct bytes key)
{
	const char head[CACHE_ENTRY_HEAD_BYTES] = {0};

	cache_entry_put(out, head, sizeof(head));
	cache_entry_put_sized(out, key);
	cache_entry_put_number(out, entry->answer_count);
	for (size_t i = 0; i < entry->answer_count; i++)
		cache_entry_put_answer(out, &entry->answers[i]);
	cache_entry_put_number(out, entry->count);
	cache_entry_put(out, entry->addresses, entry->count * sizeof(*entry->addresses));
	cache_entry_put(out, entry->reply.at, bytes_left(&entry->reply));
}

static uint32_t cache_entry_sum(const unsigned char *data, size_t len)
{
	return crc32_of(bytes_of(data + CACHE_ENTRY_HEAD_BYTES, len - CACHE_ENTRY_HEAD_BYTES));
}

void *cache_entry_write(const struct cache_entry *entry, struct bytes key, size_t *len)
{
	char *data = NULL;
	FILE *out = open_memstream(&data, len);
	uint32_t sum;

	if (!out)
		return NULL;
	cache_entry_put_all(out, entry, key);
	if (fclose(out) != 0) {
		free(data);
		return NULL;
	}
	sum = cache_entry_sum((unsigned char *)data, *len);
	memcpy(data, cache_entry_magic, sizeof(cache_entry_magic));
	memcpy(data + sizeof(cache_entry_magic), &sum, sizeof(sum));
	return data;
}

static struct bytes cache_entry_take_sized(struct bytes *from)
{
	return bytes_sub(from, bytes_u32(from));
}

static void cache_entry_take_answer(struct bytes *from, struct cache_answer *ret)
{
	const void *version;

	ret->question = cache_entry_take_sized(from);
	ret->found = bytes_u8(from);
	version = bytes_take(from, sizeof(ret->version));
	if (version)
		memcpy(&ret->version, version, sizeof(ret->version));
	ret->path = cache_entry_take_sized(from);
}

/* Reads the number of items that take at least least_bytes each. */
static size_t cache_entry_take_count(struct bytes *from, size_t least_bytes)
{
	size_t count = bytes_u32(from);

	if (count > bytes_left(from) / least_bytes)
		bytes_fail(from);
	return bytes_ok(from) ? count : 0;
}

static void cache_entry_take_answers(struct bytes *from, struct cache_entry *entry)
{
	entry->answer_count = cache_entry_take_count(from, CACHE_ANSWER_BYTES_MIN);
	entry->answers = xcalloc(entry->answer_count, sizeof(*entry->answers));
	for (size_t i = 0; i < entry->answer_count; i++)
		cache_entry_take_answer(from, &entry->answers[i]);
}

static void cache_entry_take_addresses(struct bytes *from, struct cache_entry *entry)
{
	uint64_t *addresses;

	entry->count = cache_entry_take_count(from, sizeof(*addresses));
	entry->addresses = addresses = xcalloc(entry->count, sizeof(*addresses));
	for (size_t i = 0; i < entry->count; i++) {
		addresses[i] = bytes_u64(from);
		if (i && addresses[i] <= addresses[i - 1])
			bytes_fail(from);
	}
}

static bool cache_entry_is_whole(struct bytes *from)
{
	const unsigned char *data = from->at;
	size_t len = bytes_left(from);
	const void *magic = bytes_take(from, sizeof(cache_entry_magic));
	uint32_t sum = bytes_u32(from);

	return bytes_ok(from) && !memcmp(magic, cache_entry_magic, sizeof(cache_entry_magic)) &&
	       sum == cache_entry_sum(data, len);
}

static bool cache_entry_has_key(struct bytes *from, struct bytes key)
{
	struct bytes own = cache_entry_take_sized(from);

	return bytes_ok(from) && bytes_left(&own) == bytes_left(&key) &&
	       !memcmp(own.at, key.at, bytes_left(&key));
}

bool cache_entry_read(void *data, size_t len, struct bytes key, struct cache_entry *ret)
{
	struct bytes from = bytes_of(data, len);

	*ret = (struct cache_entry){.data = data};
	if (cache_entry_is_whole(&from) && cache_entry_has_key(&from, key)) {
		cache_entry_take_answers(&from, ret);
		cache_entry_take_addresses(&from, ret);
		ret->reply = from;
		if (bytes_ok(&from))
			return true;
	}
	cache_entry_deinit(ret);
	return false;
}

void cache_entry_deinit(struct cache_entry *entry)
{
	free(entry->answers);
	free((uint64_t *)(uintptr_t)entry->addresses);
	free(entry->data);
	*entry = (struct cache_entry){0};
}
