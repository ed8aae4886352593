/*
 * Frames whose text quotes the name of another frame: "[mutex held by NAME in FUNCTION]". The name
 * is known only when the quoted frame is symbolized.
 *
 * Their number is bounded, because a process can give its threads any number of names.
 */
#ifndef PROF_PROFILE_QUOTATIONS_H
#define PROF_PROFILE_QUOTATIONS_H

#include "base/strtab.h"

#include <stdint.h>

/* The text is before, link, the quoted name, after; without a name it lacks the link, too. */
struct quotation {
	uint32_t quoted, frame; /* frames of the profile */
	string_id before, link, after;
};

/* Zeroed: empty. */
struct quotations {
	struct quotation *items;
	uint32_t count, room;
};

void quotations_deinit(struct quotations *quotations);

/* One that differs in its frame alone. NULL: there is none. Both are valid until the next
 * addition. */
const struct quotation *quotations_find(const struct quotations *quotations,
					const struct quotation *like);
/* NULL: there are too many. */
struct quotation *quotations_add(struct quotations *quotations, const struct quotation *quotation);

/* name NULL: it is not known. To be freed. */
char *quotation_text(const struct quotation *quotation, const struct strtab *strings,
		     const char *name);
/* A text that no other quotation has. To be freed. */
char *quotation_key(const struct quotation *quotation, const struct strtab *strings);

#endif
