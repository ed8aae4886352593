/*
 * A JSON text and its values, where they stand: json_parse() checks the whole text, and the other
 * functions walk in it without memory of their own. A member is found by a search, so this is for
 * texts of a few megabytes of which few members matter. Source: RFC 8259.
 *
 *	struct json_value root, member = {0}, name;
 *
 *	if (!json_parse(text, len, &root))
 *		…
 *	while (json_next(&root, &member))
 *		if (json_find(&member, "name", &name))
 *			…
 */
#ifndef PROF_BASE_JSON_VALUE_H
#define PROF_BASE_JSON_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_value {
	const char *at, *end;		/* its text, without spaces around it; borrowed */
	const char *name_at, *name_end; /* of a member, with its quotes; else NULL */
};

/* Values in values, at most. */
enum { JSON_DEPTH_MAX = 64 };

/* Reads the first value of a text. False: it is not valid, is cut, or is too deep. */
bool json_parse(const char *text, size_t len, struct json_value *ret);

/* The rest takes values of json_parse() only. */

enum json_kind json_kind(const struct json_value *value);

/* Moves *item to the next item of an array or member of an object; from the start if it is zeroed.
 * False at the end, and for other values. */
bool json_next(const struct json_value *container, struct json_value *item);
/* The first member of an object that has this name. False: none, or not an object. */
bool json_find(const struct json_value *object, const char *name, struct json_value *ret);

/* The text of a string in UTF-8, up to its first U+0000, to be freed; NULL: not a string. An escape
 * of half a surrogate pair becomes U+FFFD. */
char *json_string(const struct json_value *value);
/* The same of a member's name. */
char *json_name(const struct json_value *member);
/* Whether it is a string with this text. */
bool json_is(const struct json_value *value, const char *text);
/* False: not an integer, or not in 0 to 2^64-1. */
bool json_integer(const struct json_value *value, uint64_t *ret);

#endif
