#include "profile/fragment.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

static const struct suffix {
	const char *word;
	bool needs_number;
} suffixes[] = {
	{".cold", false},    {".warm", false},	   {".eh", false},	   {".localalias", false},
	{".argprom", false}, {".argelim", false},  {".retelim", false},	   {".part", true},
	{".isra", true},     {".constprop", true}, {".lto_priv", true},	   {".llvm", true},
	{".__part", true},   {".__uniq", true},	   {".specialized", true}, {".clone", true},
	{".org", true},
};

/* Returns the length of ".0" or ".A5310EB9", or 0 if there is no number. */
static size_t fragment_number_bytes(const char *at, const char *digits)
{
	size_t len = at[0] == '.' ? 1 + strspn(at + 1, digits) : 0;

	return len > 1 && strchr(".", at[len]) ? len : 0;
}

/* Returns the length of the suffix that starts here, or 0 if there is none. */
static size_t suffix_bytes(const char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t len = strlen(suffixes[i].word), number;

		if (strncmp(at, suffixes[i].word, len) != 0)
			continue;
		number = fragment_number_bytes(at + len, "0123456789ABCDEF");
		if ((number || !suffixes[i].needs_number) && strchr(".", at[len + number]))
			return len + number;
	}
	return 0;
}

size_t fragment_function_length(const char *symbol)
{
	const char *first = strchr(symbol, '.');

	if (first == symbol)
		return strlen(symbol);
	for (const char *at = first; at; at = strchr(at + 1, '.')) {
		/*
		 * A number alone belongs to a name: f.avx2.0 is another
		 * function.
		 */
		size_t len = at == first ? fragment_number_bytes(at, "0123456789") : 0, more;

		while ((more = suffix_bytes(at + len)))
			len += more;
		if (len && !at[len])
			return (size_t)(at - symbol);
	}
	return strlen(symbol);
}
