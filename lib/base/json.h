/*
 * JSON, written as it is put together: nothing is kept but what the next comma hangs on, and some
 * text on its way. All of it is in the stream when the outermost value has ended.
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
 * makes {"name":"…","lines":[12]}. The text is UTF-8 whatever bytes the names have (what is no
 * character becomes U+FFFD), and may stand inside JavaScript. Readers that know only doubles, as
 * JavaScript, take integers up to 2^53 exactly. Errors stay in the stream. Source: RFC 8259.
 */
#ifndef PROF_BASE_JSON_H
#define PROF_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;
	bool follows;	/* a value stands before the next one: a comma belongs between them */
	unsigned depth; /* of objects and arrays that are open */
	size_t len;
	char text[4096]; /* that is not yet in the stream */
};

static inline struct json json_to(FILE *out)
{
	return (struct json){.out = out};
}

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);

/* In an object, before each value. */
void json_key(struct json *json, const char *key);

void json_text(struct json *json, const char *text);
void json_number(struct json *json, uint64_t number);
void json_signed(struct json *json, int64_t number);
/* number / 10^digits, exactly, without zeros at the end: json_decimal(json, 1500, 3) is 1.5. At
 * most 19 digits. */
void json_decimal(struct json *json, uint64_t number, unsigned digits);
/* Rounded to so many significant digits, at most 17; null where it is no number. */
void json_real(struct json *json, double number, int digits);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);

/* A value that is JSON already. */
void json_raw(struct json *json, const char *text, size_t len);

/* json_key() and the value in one. */
void json_put_text(struct json *json, const char *key, const char *text);
/* No member at all where the text is empty: of what is not known. */
void json_put_known(struct json *json, const char *key, const char *text);
void json_put_number(struct json *json, const char *key, uint64_t number);
void json_put_real(struct json *json, const char *key, double number, int digits);
void json_put_bool(struct json *json, const char *key, bool value);

#endif
