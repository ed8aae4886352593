#include "base/printable.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wchar.h>

/* All characters before the combining marks take one column. */
enum { FIRST_NOT_ONE = 0x300 };

struct printable_range {
	uint32_t first, last;
};

static bool printable_is_in(const struct printable_range *ranges, size_t count, uint32_t character)
{
	for (size_t i = 0; i < count; i++)
		if (character >= ranges[i].first && character <= ranges[i].last)
			return true;
	return false;
}

bool printable_is_listed(uint32_t character)
{
	static const struct printable_range controls[] = {
		{0, 0x1f},	  {0x7f, 0x9f},	    {0x61c, 0x61c},   {0x200e, 0x200f},
		{0x2028, 0x202e}, {0x2066, 0x2069}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};

	return printable_is_in(controls, ARRAY_SIZE(controls), character);
}

/*
 * wcwidth() depends on the current locale, which may be LANG=C. The program's
 * locale is not changed, because regular expressions are slow in UTF-8 locales.
 * Creating a locale is slow, so it is kept.
 */
static locale_t utf8_locale;

static void open_utf8_locale(void)
{
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
}

static int width_in_utf8(uint32_t character)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	locale_t before;
	int width;

	pthread_once(&once, open_utf8_locale);
	if (!utf8_locale)
		return -1;
	before = uselocale(utf8_locale);
	width = wcwidth((wchar_t)character);
	uselocale(before);
	return width;
}

unsigned printable_width(uint32_t character)
{
	int width = character < FIRST_NOT_ONE ? 1 : width_in_utf8(character);

	return width < 0 ? 1 : (unsigned)width;
}

char *printable(const char *text)
{
	size_t len = strlen(text);
	struct bytes rest = bytes_of(text, len);
	/* One invalid byte becomes three. */
	char *copy = xreallocarray(NULL, len + 1, strlen(UTF8_REPLACEMENT)), *to = copy;

	while (bytes_left(&rest)) {
		const unsigned char *at = rest.at;
		uint32_t character = utf8_next(&rest);

		if (character == UTF8_BAD || printable_is_control(character))
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
