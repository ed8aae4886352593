#include "symbol/name_aliases.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <string.h>

#define NONE UINT32_MAX

/*
 * Limit for the functions on one line. More are usually template
 * instantiations, which are not compared.
 */
enum { MOST_AT_ONE_LINE = 64 };

bool name_alias_is_of(struct bytes plain, struct bytes demangled)
{
	size_t len = bytes_left(&plain);
	const unsigned char *at = demangled.at;

	while (len && (size_t)(demangled.end - at) > len) {
		if (!memcmp(at, plain.at, len) && at[len] == '(')
			return true;
		at = memchr(at, ' ', (size_t)(demangled.end - at));
		if (!at)
			return false;
		at++;
	}
	return false;
}

/* Functions with a linkage name, by the place of their declaration. */
struct name_aliases_places {
	const struct reply *reply;
	struct idmap first; /* by file and line */
	uint32_t *next;	    /* by function: another one on the same line */
};

static bool has_place(const struct reply_function *function)
{
	return function->start_line != 0;
}

static bool has_linkage_name(const struct name_aliases_places *places,
			     const struct reply_function *function)
{
	struct bytes name = reply_string(places->reply, function->name);
	struct bytes system_name = reply_string(places->reply, function->system_name);
	size_t len = bytes_left(&name);

	return len != bytes_left(&system_name) ||
	       (len && memcmp(name.at, system_name.at, len) != 0);
}

static void name_aliases_add(struct name_aliases_places *places, uint32_t index)
{
	struct reply_function function = reply_function(places->reply, index);
	uint32_t *first;

	if (!has_place(&function) || !has_linkage_name(places, &function))
		return;
	first = idmap_put(&places->first, function.file, function.start_line);
	places->next[index] = *first;
	*first = index;
}

/*
 * Returns the only function that this one is an alias of, or itself if there is
 * none or more than one.
 */
static uint32_t name_aliases_find(const struct name_aliases_places *places, uint32_t index)
{
	struct reply_function function = reply_function(places->reply, index), other;
	uint32_t found = NONE;
	unsigned count = 0;

	if (!has_place(&function) || has_linkage_name(places, &function))
		return index;
	for (uint32_t at = idmap_get(&places->first, function.file, function.start_line);
	     at != NONE && count < MOST_AT_ONE_LINE; at = places->next[at], count++) {
		other = reply_function(places->reply, at);
		if (!name_alias_is_of(reply_string(places->reply, function.name),
				      reply_string(places->reply, other.name)))
			continue;
		if (found != NONE)
			return index;
		found = at;
	}
	return found == NONE ? index : found;
}

uint32_t *name_aliases_of(const struct reply *reply)
{
	uint32_t count = reply_function_count(reply);
	uint32_t *names = xcalloc(count, sizeof(*names));
	struct name_aliases_places places = {.reply = reply,
					     .next = xcalloc(count, sizeof(*places.next))};

	for (uint32_t i = 0; i < count; i++)
		name_aliases_add(&places, i);
	for (uint32_t i = 0; i < count; i++)
		names[i] = name_aliases_find(&places, i);
	idmap_deinit(&places.first);
	free(places.next);
	return names;
}
