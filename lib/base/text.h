/* Texts: prefixes, suffixes, and numbers in lines. */
#ifndef PROF_BASE_TEXT_H
#define PROF_BASE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool text_begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* Returns whether the text starts with one of the words. */
static inline bool text_begins_any(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_begins(text, words[i]))
			return true;
	return false;
}
/* words: an array */
#define TEXT_BEGINS_ANY(text, words) text_begins_any(text, words, sizeof(words) / sizeof(*(words)))

static inline bool text_ends(const char *text, const char *with)
{
	size_t len = strlen(text), with_len = strlen(with);

	return len >= with_len && !strcmp(text + len - with_len, with);
}

/*
 * Parses a hexadecimal number at *at, with or without 0x, without sign or
 * spaces, and moves *at past it. Returns false and changes nothing if there is
 * none or it has more than 64 bits.
 */
static inline bool text_hex(const char **at, uint64_t *ret)
{
	const char *start = *at, *end;
	uint64_t value = 0;

	if (start[0] == '0' && (start[1] == 'x' || start[1] == 'X'))
		start += 2;
	for (end = start;; end++) {
		char c = *end;
		unsigned digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned)((c | 0x20) - 'a') + 10;
		else
			break;
		if (value >> 60)
			return false;
		value = value << 4 | digit;
	}
	if (end == start)
		return false;
	*at = end;
	*ret = value;
	return true;
}

#endif
