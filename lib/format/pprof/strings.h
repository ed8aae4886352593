/*
 * The string table of a pprof profile, to which other messages refer by index.
 */
#ifndef PROF_FORMAT_PPROF_STRINGS_H
#define PROF_FORMAT_PPROF_STRINGS_H

#include "base/bytes.h"
#include "profile/profile.h"

struct pprof_strings {
	struct profile *profile; /* gets the strings; borrowed */
	string_id *items;
	size_t count, room;
	bool is_missing; /* an index was outside the table */
};

void pprof_strings_deinit(struct pprof_strings *strings);

/* Adds the next string of the table. */
void pprof_strings_add(struct pprof_strings *strings, struct bytes text);

/*
 * Returns the string at an index. Returns "" and sets is_missing for an index
 * outside the table; the caller checks is_missing after reading a message.
 */
static inline string_id pprof_strings_get(struct pprof_strings *strings, uint64_t index)
{
	if (index < strings->count)
		return strings->items[index];
	strings->is_missing |= index > 0;
	return 0;
}

#endif
