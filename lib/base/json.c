#include "base/json.h"

#include "base/digits.h"
#include "base/printable.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

static void flush(struct json *json)
{
	fwrite_unlocked(json->text, 1, json->len, json->out);
	json->len = 0;
}

static void json_put(struct json *json, const char *text, size_t len)
{
	if (sizeof(json->text) - json->len < len)
		flush(json);
	if (sizeof(json->text) < len) {
		fwrite_unlocked(text, 1, len, json->out);
		return;
	}
	memcpy(json->text + json->len, text, len);
	json->len += len;
}

static void put_char(struct json *json, char c)
{
	if (sizeof(json->text) == json->len)
		flush(json);
	json->text[json->len++] = c;
}

static void before_value(struct json *json)
{
	if (json->follows)
		put_char(json, ',');
	json->follows = true;
}

static void after_value(struct json *json)
{
	if (!json->depth)
		flush(json);
}

static void json_begin(struct json *json, char bracket)
{
	before_value(json);
	put_char(json, bracket);
	json->follows = false;
	json->depth++;
}

static void json_end(struct json *json, char bracket)
{
	put_char(json, bracket);
	json->follows = true;
	json->depth--;
	after_value(json);
}

void json_begin_object(struct json *json)
{
	json_begin(json, '{');
}

void json_end_object(struct json *json)
{
	json_end(json, '}');
}

void json_begin_array(struct json *json)
{
	json_begin(json, '[');
}

void json_end_array(struct json *json)
{
	json_end(json, ']');
}

/*
 * Returns the second character of a two-character escape, or 0 for characters
 * that are escaped by number.
 */
static char short_escape(uint32_t c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\n':
		return 'n';
	case '\t':
		return 't';
	default:
		return 0;
	}
}

static void put_escape(struct json *json, uint32_t c)
{
	char escape[16] = {'\\', short_escape(c)};

	if (c > 0xffff) /* a pair of surrogates */
		snprintf(escape, sizeof(escape), "\\u%04x\\u%04x",
			 0xd800 + (unsigned)((c - 0x10000) >> 10), 0xdc00 + (unsigned)(c & 0x3ff));
	else if (!escape[1])
		snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
	json_put(json, escape, strlen(escape));
}

/*
 * JSON may be printed to a terminal. In HTML, '<' can start the tag that ends a
 * script.
 */
static bool is_escaped(uint32_t c)
{
	return c == '"' || c == '\\' || c == '<' || printable_is_control(c);
}

static void json_put_quoted(struct json *json, const char *str)
{
	struct bytes text = bytes_of(str, strlen(str));
	const unsigned char *plain = text.at; /* start of the text that is not written yet */

	put_char(json, '"');
	while (bytes_left(&text)) {
		const unsigned char *at = text.at;
		uint32_t c = utf8_next(&text);

		if (c != UTF8_BAD && !is_escaped(c))
			continue;
		json_put(json, (const char *)plain, (size_t)(at - plain));
		plain = text.at;
		if (c == UTF8_BAD)
			json_put(json, UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT));
		else
			put_escape(json, c);
	}
	json_put(json, (const char *)plain, (size_t)(text.at - plain));
	put_char(json, '"');
}

void json_key(struct json *json, const char *key)
{
	before_value(json);
	json_put_quoted(json, key);
	put_char(json, ':');
	json->follows = false;
}

void json_text(struct json *json, const char *text)
{
	before_value(json);
	json_put_quoted(json, text);
	after_value(json);
}

/* Writes in place, padded with zeros to `least` digits. */
static void put_digits(struct json *json, uint64_t number, unsigned least)
{
	unsigned count = digits_count(number);
	char *end;

	if (count < least)
		count = least;
	if (sizeof(json->text) - json->len < count)
		flush(json);
	json->len += count;
	end = json->text + json->len;
	digits_padded_before(end, number, least, '0');
}

void json_number(struct json *json, uint64_t number)
{
	before_value(json);
	put_digits(json, number, 1);
	after_value(json);
}

void json_signed(struct json *json, int64_t number)
{
	before_value(json);
	if (number < 0)
		put_char(json, '-');
	put_digits(json, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
	after_value(json);
}

void json_decimal(struct json *json, uint64_t number, unsigned digits)
{
	uint64_t power = 1;

	for (; digits && number % 10 == 0; digits--)
		number /= 10;
	for (unsigned i = 0; i < digits; i++)
		power *= 10;
	before_value(json);
	put_digits(json, number / power, 1);
	if (digits) {
		put_char(json, '.');
		put_digits(json, number % power, digits);
	}
	after_value(json);
}

void json_real(struct json *json, double number, int digits)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%.*g", digits, number);

	if (isfinite(number))
		json_raw(json, text, (size_t)len);
	else
		json_null(json);
}

void json_bool(struct json *json, bool value)
{
	json_raw(json, value ? "true" : "false", value ? 4 : 5);
}

void json_null(struct json *json)
{
	json_raw(json, "null", 4);
}

void json_raw(struct json *json, const char *text, size_t len)
{
	before_value(json);
	json_put(json, text, len);
	after_value(json);
}

void json_put_text(struct json *json, const char *key, const char *text)
{
	json_key(json, key);
	json_text(json, text);
}

void json_put_known(struct json *json, const char *key, const char *text)
{
	if (*text)
		json_put_text(json, key, text);
}

void json_put_number(struct json *json, const char *key, uint64_t number)
{
	json_key(json, key);
	json_number(json, number);
}

void json_put_real(struct json *json, const char *key, double number, int digits)
{
	json_key(json, key);
	json_real(json, number, digits);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}
