#include "report/shorten.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define ELLIPSIS "…"

/* Brackets that are nested this deep are kept at first. */
enum { SHORTEN_MOST_LEVELS = 3 };

/*
 * Returns the length of text that contains brackets but is a unit:
 * "operator()", "operator<<", "->", "(anonymous namespace)". Returns 0 for
 * other text.
 */
static size_t shorten_plain_bytes(const char *at)
{
	static const char operator_word[] = "operator", arrow[] = "->",
			  anonymous[] = "(anonymous namespace)";
	const size_t len = strlen(operator_word);

	if (text_begins(at, operator_word)) {
		at += len;
		return len + (text_begins(at, "()") ? 2 : strspn(at, "<>=-"));
	}
	if (text_begins(at, arrow))
		return strlen(arrow);
	return text_begins(at, anonymous) ? strlen(anonymous) : 0;
}

static bool is_opening(char c)
{
	return c == '<' || c == '(';
}

static bool is_closing(char c)
{
	return c == '>' || c == ')';
}

/*
 * Returns the end of the brackets in "<Type as Trait>::method", which starts
 * with the most important part. Returns 0 for other names.
 */
static size_t type_bytes(const char *name)
{
	size_t depth = 0, at = 0;

	while (name[at]) {
		size_t plain = shorten_plain_bytes(name + at);

		if (!plain && is_opening(name[at]))
			depth++;
		else if (!plain && is_closing(name[at]) && depth)
			depth--;
		if (!depth)
			return at && text_begins(name + at + 1, "::") ? at : 0;
		at += plain ? plain : 1;
	}
	return 0;
}

static bool shorten_is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || c & 0x80;
}

/*
 * Returns the length of the scopes before a type's own name,
 * "std::collections::", or 0.
 */
static size_t scope_bytes(const char *at)
{
	size_t scopes = 0, len = 0;

	while (shorten_is_word(at[len])) {
		while (shorten_is_word(at[len]))
			len++;
		if (!text_begins(at + len, "::"))
			break;
		len += 2;
		scopes = len;
	}
	return scopes;
}

/*
 * Copies the name without the scopes of types in brackets, and without the
 * contents of brackets that are nested deeper than `levels`. The brackets of
 * the type in front do not count.
 */
static void leave_out(const char *name, size_t levels, char *to)
{
	const char *type_end = name + type_bytes(name);
	bool within_word = false;
	size_t depth = 0;

	while (*name) {
		size_t plain, len, most = levels + (name < type_end);

		if (depth && !within_word)
			name += scope_bytes(name);
		if (!*name)
			break;
		plain = shorten_plain_bytes(name);
		len = plain ? plain : 1;
		if (!plain && depth && is_closing(*name))
			depth--;
		if (depth <= most)
			to = mempcpy(to, name, len);
		if (!plain && is_opening(*name) && depth++ == most && !is_closing(name[1]))
			to = stpcpy(to, ELLIPSIS);
		name += len;
		within_word = shorten_is_word(name[-1]);
	}
	*to = '\0';
}

/* Returns the function's own name, after its scopes. */
static char *shorten_own_name(char *text)
{
	char *name = text;

	for (char *scope = text; (scope = strstr(scope, "::")); name = scope)
		scope += strlen("::");
	return name;
}

static size_t shorten_width(uint32_t character)
{
	return character == UTF8_BAD ? 1 : printable_width(character);
}

/* Keeps the first characters. */
static void shorten_cut_end(char *text, size_t columns)
{
	struct bytes rest = bytes_of(text, strlen(text));
	unsigned char *end = (unsigned char *)text;
	size_t width = 0;

	while (bytes_left(&rest)) {
		width += shorten_width(utf8_next(&rest));
		if (width >= columns)
			break;
		end = (unsigned char *)rest.at;
	}
	strcpy((char *)end, ELLIPSIS);
}

/*
 * Keeps the last characters: no part of "::", no part of a word before a scope
 * or a space. Keeps the whole name if it fits.
 */
static void cut_beginning(char *text, const char *name, size_t columns)
{
	size_t left = printable_columns(text);
	struct bytes rest = bytes_of(text, strlen(text));
	const unsigned char *start = rest.at, *word_end;

	while (left >= columns && bytes_left(&rest))
		left -= shorten_width(utf8_next(&rest));
	word_end = rest.at;
	while (shorten_is_word((char)*word_end))
		word_end++;
	if (text_begins((const char *)word_end, "::"))
		rest.at = word_end;
	else if ((*word_end == ' ' && (const char *)word_end < name) ||
		 (rest.at > start && rest.at[-1] == ':' && *rest.at == ':'))
		rest.at = word_end + 1;
	memmove(text + strlen(ELLIPSIS), rest.at, bytes_left(&rest) + 1);
	memcpy(text, ELLIPSIS, strlen(ELLIPSIS));
}

/* The most important part is the function's own name, and in it the start. */
static void shorten_cut(char *text, size_t columns)
{
	char *name = shorten_own_name(text);

	if (printable_columns(name) < columns && name != text) {
		cut_beginning(text, name, columns);
		return;
	}
	memmove(text, name, strlen(name) + 1);
	if (printable_columns(text) > columns)
		shorten_cut_end(text, columns);
}

/* "src/read.rs:512", "github.com/user/repo.f", but not "a::operator/(int)" */
static bool shorten_is_path(const char *name)
{
	return strchr(name, '/') && !strpbrk(name, "<( ") && !strstr(name, "::");
}

/* Keeps the last parts that fit, or else the end of the last part. */
static char *cut_path(const char *path, size_t columns)
{
	struct bytes rest = bytes_of(path, strlen(path));
	size_t left = printable_columns(path);
	const char *part;

	while (left >= columns && bytes_left(&rest))
		left -= shorten_width(utf8_next(&rest));
	part = strchr((const char *)rest.at, '/');
	return xasprintf("%s%s", ELLIPSIS, part ? part : (const char *)rest.at);
}

char *shorten(const char *name, size_t columns)
{
	char *text;

	if (printable_columns(name) <= columns)
		return xstrdup(name);
	if (shorten_is_path(name))
		return cut_path(name, columns);
	/*
	 * "<T>" becomes "<…>", and a truncated name starts with one more
	 * ellipsis.
	 */
	text = xreallocarray(NULL, strlen(name) + 2, strlen(ELLIPSIS));
	for (size_t levels = SHORTEN_MOST_LEVELS + 1; levels-- > 0;) {
		leave_out(name, levels, text);
		if (printable_columns(text) <= columns)
			return text;
	}
	shorten_cut(text, columns);
	return text;
}

char *shorten_types(const char *name)
{
	/* The text never grows, because no level is too deep. */
	char *text = xstrdup(name);

	leave_out(name, strlen(name), text);
	return text;
}
