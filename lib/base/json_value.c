#include "base/json_value.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text that has not been read yet. */
struct json_value_text {
	const char *at, *end;
};

static void json_value_skip_spaces(struct json_value_text *text)
{
	while (text->at < text->end && memchr(" \t\r\n", *text->at, 4))
		text->at++;
}

static bool json_value_take(struct json_value_text *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

static bool json_value_take_word(struct json_value_text *text, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(text->end - text->at) < len || memcmp(text->at, word, len) != 0)
		return false;
	text->at += len;
	return true;
}

static int json_value_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads the four digits of \uXXXX. */
static bool take_unit(struct json_value_text *text, uint32_t *ret)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++, text->at++) {
		int digit = text->at < text->end ? json_value_digit_of(*text->at) : -1;

		if (digit < 0)
			return false;
		unit = unit << 4 | (uint32_t)digit;
	}
	*ret = unit;
	return true;
}

static bool skip_escape(struct json_value_text *text)
{
	uint32_t unit;

	if (json_value_take(text, 'u'))
		return take_unit(text, &unit);
	return text->at < text->end && memchr("\"\\/bfnrt", *text->at++, 8);
}

static bool skip_string(struct json_value_text *text)
{
	if (!json_value_take(text, '"'))
		return false;
	while (text->at < text->end) {
		char c = *text->at++;

		if (c == '"')
			return true;
		if ((unsigned char)c < 0x20 || (c == '\\' && !skip_escape(text)))
			return false;
	}
	return false;
}

static bool skip_digits(struct json_value_text *text)
{
	const char *start = text->at;

	while (text->at < text->end && *text->at >= '0' && *text->at <= '9')
		text->at++;
	return text->at > start;
}

static bool skip_number(struct json_value_text *text)
{
	json_value_take(text, '-');
	if (!json_value_take(text, '0') && !skip_digits(text))
		return false;
	if (json_value_take(text, '.') && !skip_digits(text))
		return false;
	if (!json_value_take(text, 'e') && !json_value_take(text, 'E'))
		return true;
	if (!json_value_take(text, '+'))
		json_value_take(text, '-');
	return skip_digits(text);
}

static bool skip_value(struct json_value_text *text, unsigned depth);

/* Skips the items after the opening bracket. */
static bool skip_items(struct json_value_text *text, bool has_names, unsigned depth)
{
	char closing = has_names ? '}' : ']';

	json_value_skip_spaces(text);
	if (json_value_take(text, closing))
		return true;
	do {
		json_value_skip_spaces(text);
		if (has_names) {
			if (!skip_string(text))
				return false;
			json_value_skip_spaces(text);
			if (!json_value_take(text, ':'))
				return false;
			json_value_skip_spaces(text);
		}
		if (!skip_value(text, depth))
			return false;
		json_value_skip_spaces(text);
	} while (json_value_take(text, ','));
	return json_value_take(text, closing);
}

/* `depth` limits the recursion. */
static bool skip_value(struct json_value_text *text, unsigned depth)
{
	if (text->at == text->end)
		return false;
	switch (*text->at) {
	case '{':
	case '[':
		return depth < JSON_DEPTH_MAX && skip_items(text, *text->at++ == '{', depth + 1);
	case '"':
		return skip_string(text);
	case 't':
		return json_value_take_word(text, "true");
	case 'f':
		return json_value_take_word(text, "false");
	case 'n':
		return json_value_take_word(text, "null");
	default:
		return skip_number(text);
	}
}

bool json_parse(const char *text, size_t len, struct json_value *ret)
{
	struct json_value_text rest = {text, text + len};
	const char *start;

	json_value_skip_spaces(&rest);
	start = rest.at;
	if (!skip_value(&rest, 0))
		return false;
	*ret = (struct json_value){.at = start, .end = rest.at};
	return true;
}

enum json_kind json_kind(const struct json_value *value)
{
	switch (*value->at) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	default:
		return JSON_NUMBER;
	}
}

bool json_next(const struct json_value *container, struct json_value *item)
{
	enum json_kind kind = json_kind(container);
	struct json_value_text rest = {item->at ? item->end : container->at + 1, container->end};
	struct json_value next = {0};

	if (kind != JSON_ARRAY && kind != JSON_OBJECT)
		return false;
	json_value_skip_spaces(&rest);
	json_value_take(&rest, ',');
	json_value_skip_spaces(&rest);
	if (kind == JSON_OBJECT) {
		next.name_at = rest.at;
		if (!skip_string(&rest))
			return false;
		next.name_end = rest.at;
		json_value_skip_spaces(&rest);
		json_value_take(&rest, ':');
		json_value_skip_spaces(&rest);
	}
	next.at = rest.at;
	if (!skip_value(&rest, 0))
		return false;
	next.end = rest.at;
	*item = next;
	return true;
}

/* Writes a code point: one unit, or both halves of a surrogate pair. */
static void put_code_point(FILE *out, struct json_value_text *text)
{
	uint32_t unit = 0, low = 0;
	struct json_value_text after;

	take_unit(text, &unit);
	after = *text;
	if ((unit & 0xfc00) == 0xd800 && json_value_take_word(&after, "\\u") &&
	    take_unit(&after, &low) && (low & 0xfc00) == 0xdc00) {
		*text = after;
		unit = 0x10000 + ((unit & 0x3ff) << 10 | (low & 0x3ff));
	}
	if (unit >= 0xd800 && unit < 0xe000)
		fputs(UTF8_REPLACEMENT, out);
	else if (unit < 0x80)
		fputc((int)unit, out);
	else if (unit < 0x800)
		fprintf(out, "%c%c", 0xc0 | unit >> 6, 0x80 | (unit & 0x3f));
	else if (unit < 0x10000)
		fprintf(out, "%c%c%c", 0xe0 | unit >> 12, 0x80 | (unit >> 6 & 0x3f),
			0x80 | (unit & 0x3f));
	else
		fprintf(out, "%c%c%c%c", 0xf0 | unit >> 18, 0x80 | (unit >> 12 & 0x3f),
			0x80 | (unit >> 6 & 0x3f), 0x80 | (unit & 0x3f));
}

static void put_escaped(FILE *out, struct json_value_text *text)
{
	static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
	char c = *text->at++;
	const char *letter = strchr(letters, c);

	if (c == 'u')
		put_code_point(out, text);
	else
		fputc(letter ? meanings[letter - letters] : c, out);
}

/* The text includes its quotes. */
static char *json_value_decode(const char *at, const char *end)
{
	struct json_value_text text = {at + 1, end - 1};
	char *decoded = NULL;
	size_t len;
	FILE *out = open_memstream(&decoded, &len);

	while (text.at < text.end) {
		char c = *text.at++;

		if (c == '\\')
			put_escaped(out, &text);
		else
			fputc(c, out);
	}
	fclose(out);
	return decoded;
}

char *json_string(const struct json_value *value)
{
	return json_kind(value) == JSON_STRING ? json_value_decode(value->at, value->end) : NULL;
}

char *json_name(const struct json_value *member)
{
	return member->name_at ? json_value_decode(member->name_at, member->name_end) : NULL;
}

bool json_find(const struct json_value *object, const char *name, struct json_value *ret)
{
	struct json_value member = {0};

	if (json_kind(object) != JSON_OBJECT)
		return false;
	while (json_next(object, &member)) {
		CLEANUP(free_ptr) char *found = json_name(&member);

		if (strcmp(found, name) != 0)
			continue;
		*ret = member;
		return true;
	}
	return false;
}

bool json_is(const struct json_value *value, const char *text)
{
	CLEANUP(free_ptr) char *string = json_string(value);

	return string && !strcmp(string, text);
}

bool json_integer(const struct json_value *value, uint64_t *ret)
{
	uint64_t number = 0;

	if (json_kind(value) != JSON_NUMBER)
		return false;
	for (const char *at = value->at; at < value->end; at++) {
		if (*at < '0' || *at > '9' || __builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*at - '0'), &number))
			return false;
	}
	*ret = number;
	return true;
}
