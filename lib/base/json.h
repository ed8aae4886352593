/*
 * A streaming JSON writer. It keeps only its depth and a small buffer. When the
 * outermost value has ended, everything is in the stream.
 *
 *	json_begin_object(&json);
 *	json_key(&json, "name");
 *	json_text(&json, name);
 *	json_key(&json, "lines");
 *	json_begin_array(&json);
 *	json_number(&json, 12);
 *	json_end_array(&json);
 *	json_end_object(&json);
 *
 * writes {"name":"…","lines":[12]}. The output is valid UTF-8 for any bytes in
 * names (invalid ones become U+FFFD) and may be embedded in JavaScript. Readers
 * that use doubles read integers up to 2^53 exactly. Errors stay in the stream.
 * Source: RFC 8259.
 */
#ifndef PROF_BASE_JSON_H
#define PROF_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool follows;	/* a value precedes the next one, so a comma is needed */
	unsigned depth; /* number of open objects and arrays */
	size_t len;
	char text[4096]; /* not yet in the stream */
};

static inline struct json json_to(FILE *out)
{
	return (struct json){.out = out};
}

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);

/* Writes the key of the next value of an object. */
void json_key(struct json *json, const char *key);

void json_text(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/*
 * Writes number / 10^digits exactly, without trailing zeros: json_decimal(json,
 * 1500, 3) writes 1.5. At most 19 digits.
 */
void json_decimal(struct json *json, uint64_t number, unsigned digits);
/*
 * Rounds to this number of significant digits, at most 17. Writes null if the
 * number is not finite.
 */
void json_real(struct json *json, double number, int digits);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* Writes a value that already is JSON text. */
void json_raw(struct json *json, const char *text, size_t len);

/* Writes json_key() and the value. */
void json_put_text(struct json *json, const char *key, const char *text);
/* Omits the member if the text is empty, which means unknown. */
void json_put_known(struct json *json, const char *key, const char *text);
void json_put_number(struct json *json, const char *key, uint64_t number);
void json_put_real(struct json *json, const char *key, double number, int digits);
void json_put_bool(struct json *json, const char *key, bool value);

#endif
