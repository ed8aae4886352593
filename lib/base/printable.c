#include "base/printable.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

struct range {
	uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

static bool is_obeyed(uint32_t character)
{
	static const struct range obeyed[] = {
		{0, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	return is_in(obeyed, ARRAY_SIZE(obeyed), character);
}

unsigned printable_width(uint32_t character)
{
	static const struct range none[] = {
		{0x300, 0x36f},	  {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
		{0x64b, 0x65f},	  {0x200b, 0x200d}, {0x20d0, 0x20f0}, {0xfe00, 0xfe0f},
		{0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
	};
	static const struct range two[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0xa4cf},   {0xa960, 0xa97f},
		{0xac00, 0xd7a3},   {0xf900, 0xfaff},	{0xfe30, 0xfe6f},   {0xff00, 0xff60},
		{0xffe0, 0xffe6},   {0x17000, 0x18aff}, {0x1b000, 0x1b2ff}, {0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};

	if (character < 0x300)
		return 1;
	if (is_in(none, ARRAY_SIZE(none), character))
		return 0;
	return is_in(two, ARRAY_SIZE(two), character) ? 2 : 1;
}

char *printable(const char *text)
{
	size_t len = strlen(text);
	struct bytes rest = bytes_of(text, len);
	/* One bad byte becomes three. */
	char *copy = xreallocarray(NULL, len + 1, strlen(UTF8_REPLACEMENT)), *to = copy;

	while (bytes_left(&rest)) {
		const unsigned char *at = rest.at;
		uint32_t character = utf8_next(&rest);

		if (character == UTF8_BAD || is_obeyed(character))
			to = stpcpy(to, UTF8_REPLACEMENT);
		else
			to = mempcpy(to, at, (size_t)(rest.at - at));
	}
	*to = '\0';
	return copy;
}

size_t printable_columns(const char *text)
{
	struct bytes rest = bytes_of(text, strlen(text));
	size_t columns = 0;

	while (bytes_left(&rest)) {
		uint32_t character = utf8_next(&rest);

		columns += character == UTF8_BAD ? 1 : printable_width(character);
	}
	return columns;
}
