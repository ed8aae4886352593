#include "report/shorten.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "…"

/* Brackets within as many others are kept at first. */
enum { MOST_LEVELS = 3 };

/* What brackets are part of: "operator()", "operator<<", "->", "(anonymous namespace)"; 0: none. */
static size_t plain_bytes(const char *at)
{
	static const char operator_word[] = "operator", arrow[] = "->",
			  anonymous[] = "(anonymous namespace)";
	size_t len = strlen(operator_word);

	if (!strncmp(at, operator_word, len)) {
		at += len;
		return len + (!strncmp(at, "()", 2) ? 2 : strspn(at, "<>=-"));
	}
	if (!strncmp(at, arrow, strlen(arrow)))
		return strlen(arrow);
	return !strncmp(at, anonymous, strlen(anonymous)) ? strlen(anonymous) : 0;
}

static bool is_opening(char c)
{
	return c == '<' || c == '(';
}

static bool is_closing(char c)
{
	return c == '>' || c == ')';
}

/* Copies the name without what is within more than `levels` brackets. */
static void leave_out(const char *name, size_t levels, char *to)
{
	size_t depth = 0;

	while (*name) {
		size_t plain = plain_bytes(name);
		size_t len = plain ? plain : 1;

		if (!plain && depth && is_closing(*name))
			depth--;
		if (depth <= levels)
			to = mempcpy(to, name, len);
		if (!plain && is_opening(*name) && depth++ == levels && !is_closing(name[1]))
			to = stpcpy(to, ELLIPSIS);
		name += len;
	}
	*to = '\0';
}

/* Leaves the last characters. */
static void cut(char *text, size_t columns)
{
	size_t left = printable_columns(text);
	struct bytes rest = bytes_of(text, strlen(text));

	while (left >= columns && bytes_left(&rest)) {
		uint32_t character = utf8_next(&rest);

		left -= character == UTF8_BAD ? 1 : printable_width(character);
	}
	memmove(text + strlen(ELLIPSIS), rest.at, bytes_left(&rest) + 1);
	memcpy(text, ELLIPSIS, strlen(ELLIPSIS));
}

char *shorten(const char *name, size_t columns)
{
	char *text;

	if (printable_columns(name) <= columns)
		return xstrdup(name);
	/* "<T>" becomes "<…>", and a cut name begins with one more. */
	text = xreallocarray(NULL, strlen(name) + 2, strlen(ELLIPSIS));
	for (size_t levels = MOST_LEVELS + 1; levels-- > 0;) {
		leave_out(name, levels, text);
		if (printable_columns(text) <= columns)
			return text;
	}
	cut(text, columns);
	return text;
}
