/*
 * The strings of a pprof profile: its other messages have indices of its table.
 */
#ifndef PROF_FORMAT_PPROF_STRINGS_H
#define PROF_FORMAT_PPROF_STRINGS_H

#include "base/bytes.h"
#include "profile/profile.h"

struct pprof_strings {
	struct profile *profile; /* whose strings they become; borrowed */
	string_id *items;
	size_t count, room;
	bool is_missing; /* an index was beyond the table */
};

void pprof_strings_deinit(struct pprof_strings *strings);

/* The next one of the table. */
void pprof_strings_add(struct pprof_strings *strings, struct bytes text);

/* The string of an index; "" of one that is not there, which is noted: to be asked for when a
 * message has been read. */
static inline string_id pprof_strings_get(struct pprof_strings *strings, uint64_t index)
{
	if (index < strings->count)
		return strings->items[index];
	strings->is_missing |= index > 0;
	return 0;
}

#endif
