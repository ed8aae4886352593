#include "probe/library_cache.h"

#include "base/text.h"

#include <ctype.h>

#define MAGIC "glibc-ld.so.cache1.1"

enum {
	FLAG_KINDS = 0xffff,
	HEADER_REST_BYTES = 20, /* flags, padding, extensions, reserved */
#ifdef __aarch64__
	OF_THIS_MACHINE = 0x0a03,
#else
	OF_THIS_MACHINE = 0x0303,
#endif
};

bool library_is(const char *file, const char *stem)
{
	size_t len = strlen(stem);

	if (!len || strncmp(file, stem, len) != 0)
		return false;
	file += len;
	return !*file || text_begins(file, ".so") ||
	       (*file == '-' && isdigit((unsigned char)file[1]));
}

/* Returns a string of the cache by its offset from the header. */
static const char *library_cache_string_at(struct bytes header, uint32_t offset)
{
	struct bytes at = bytes_at(header, offset);

	return bytes_cstr(&at);
}

const char *library_cache_find(struct bytes cache, const char *stem)
{
	/* An older format may precede it. */
	const void *found = bytes_left(&cache)
				    ? memmem(cache.at, bytes_left(&cache), MAGIC, strlen(MAGIC))
				    : NULL;
	struct bytes header = cache;
	uint32_t count;

	if (!found)
		return NULL;
	header.at = found;
	cache = bytes_at(header, strlen(MAGIC));
	count = bytes_u32(&cache);
	bytes_skip(&cache, sizeof(uint32_t) + HEADER_REST_BYTES);
	for (uint32_t i = 0; i < count && bytes_ok(&cache); i++) {
		uint32_t flags = bytes_u32(&cache), name = bytes_u32(&cache);
		uint32_t path = bytes_u32(&cache);
		const char *file = library_cache_string_at(header, name);

		bytes_skip(&cache, sizeof(uint32_t));
		if (bytes_u64(&cache) == 0 && (flags & FLAG_KINDS) == OF_THIS_MACHINE && file &&
		    library_is(file, stem))
			return library_cache_string_at(header, path);
	}
	return NULL;
}
