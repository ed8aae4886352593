#include "base/utf8.h"

#include "base/alloc.h"

uint32_t utf8_next(struct bytes *text)
{
	unsigned char lead = bytes_u8(text);
	unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;  /* not overlong */
	unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf; /* not beyond */
	unsigned more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
	uint32_t code = lead & (0x3fu >> more);

	if (lead < 0x80)
		return lead;
	if (lead < 0xc2 || lead > 0xf4)
		return UTF8_BAD;
	for (; more; more--) {
		if (!bytes_left(text) || *text->at < low || *text->at > high)
			return UTF8_BAD;
		code = code << 6 | (bytes_u8(text) & 0x3f);
		low = 0x80;
		high = 0xbf;
	}
	return code;
}

/* Checks eight bytes at a time, because names are mostly ASCII. */
static void skip_ascii(struct bytes *text)
{
	uint64_t word;

	while (bytes_left(text) >= sizeof(word)) {
		memcpy(&word, text->at, sizeof(word));
		if (word & UINT64_C(0x8080808080808080))
			return;
		bytes_skip(text, sizeof(word));
	}
}

bool utf8_is_valid(struct bytes text)
{
	for (skip_ascii(&text); bytes_left(&text); skip_ascii(&text))
		if (utf8_next(&text) == UTF8_BAD)
			return false;
	return true;
}

bool utf8_is_text(struct bytes text)
{
	while (bytes_left(&text)) {
		unsigned char c = bytes_u8(&text);

		if (c < 0x20 && c != '\n' && c != '\r' && c != '\t')
			return false;
	}
	return true;
}

const char *utf8_valid(const char *str, struct arena *arena)
{
	size_t len = strlen(str);
	struct bytes text = bytes_of(str, len);
	char *copy, *to;

	if (utf8_is_valid(text))
		return str;
	copy = to = arena_alloc(arena, len * strlen(UTF8_REPLACEMENT) + 1);
	while (bytes_left(&text)) {
		const unsigned char *at = text.at;

		if (utf8_next(&text) == UTF8_BAD)
			to = stpcpy(to, UTF8_REPLACEMENT);
		else
			to = mempcpy(to, at, (size_t)(text.at - at));
	}
	*to = '\0';
	return copy;
}

string_id utf8_intern(struct strtab *strings, struct bytes name)
{
	size_t len = bytes_left(&name);

	if (!len)
		return 0;
	if (utf8_is_valid(name) && !memchr(name.at, '\0', len))
		return strtab_add_len(strings, (const char *)name.at, len);

	CLEANUP(free_ptr) char *str = xstrndup((const char *)name.at, len);
	struct arena arena = {0};
	string_id id = strtab_add(strings, utf8_valid(str, &arena));

	arena_deinit(&arena);
	return id;
}
