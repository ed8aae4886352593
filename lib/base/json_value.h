/*
 * A JSON text and its values, in place. json_parse() checks the whole text, and
 * the other functions walk it without allocating memory. Members are found by a
 * linear search, so this is for texts of a few megabytes of which few members
 * are needed. Source: RFC 8259.
 *
 *	struct json_value root, member = {0}, name;
 *
 *	if (!json_parse(text, len, &root))
 *	…
 *	while (json_next(&root, &member))
 *	if (json_find(&member, "name", &name))
 *	…
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
	const char *name_at, *name_end; /* the name of a member, with its quotes, else NULL */
};

/* The maximum nesting of values. */
enum { JSON_DEPTH_MAX = 64 };

/*
 * Reads the first value of a text. Returns false if it is invalid, truncated,
 * or nested too deeply.
 */
bool json_parse(const char *text, size_t len, struct json_value *ret);

/* The following functions accept only values that result from json_parse(). */

enum json_kind json_kind(const struct json_value *value);

/*
 * Moves *item to the next item of an array or member of an object; to the first
 * one if it is zeroed. Returns false at the end, and for other values.
 */
bool json_next(const struct json_value *container, struct json_value *item);
/*
 * Stores the first member of an object with this name. Returns false if there
 * is none, or if the value is not an object.
 */
bool json_find(const struct json_value *object, const char *name, struct json_value *ret);

/*
 * Returns the text of a string in UTF-8, up to its first U+0000, or NULL if the
 * value is not a string. An escape of half a surrogate pair becomes U+FFFD. The
 * caller frees the text.
 */
char *json_string(const struct json_value *value);
/* Like json_string(), for the name of a member. */
char *json_name(const struct json_value *member);
/* Returns whether the value is a string with this text. */
bool json_is(const struct json_value *value, const char *text);
/* Returns false if the value is not an integer from 0 to 2^64-1. */
bool json_integer(const struct json_value *value, uint64_t *ret);

#endif
