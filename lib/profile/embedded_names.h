/*
 * Frames whose text contains the name of another frame: "[mutex held by NAME in
 * FUNCTION]". The name becomes known when the other frame is symbolized.
 *
 * The number of these frames is limited, because a process can give its threads
 * any number of names.
 */
#ifndef PROF_PROFILE_EMBEDDED_NAMES_H
#define PROF_PROFILE_EMBEDDED_NAMES_H

#include "base/strtab.h"

#include <stdint.h>

/*
 * The text consists of before, link, the embedded name, and after. If the name
 * is unknown, the link is omitted too.
 */
struct embedded_name {
	uint32_t quoted, frame; /* frames of the profile */
	string_id before, link, after;
};

/* Zeroed: empty. */
struct embedded_names {
	struct embedded_name *items;
	uint32_t count, room;
};

void embedded_names_deinit(struct embedded_names *embedded_names);

/*
 * Returns an entry that differs only in its frame, or NULL. It is valid until
 * the next addition.
 */
const struct embedded_name *embedded_names_find(const struct embedded_names *embedded_names,
						const struct embedded_name *like);
/*
 * Returns the new entry, valid until the next addition, or NULL if there are
 * too many.
 */
struct embedded_name *embedded_names_add(struct embedded_names *embedded_names,
					 const struct embedded_name *embedded_name);

/*
 * Returns the frame's text. name is NULL if it is unknown. The caller frees the
 * result.
 */
char *embedded_name_text(const struct embedded_name *embedded_name, const struct strtab *strings,
			 const char *name);
/* Returns a text that identifies the entry. The caller frees it. */
char *embedded_name_key(const struct embedded_name *embedded_name, const struct strtab *strings);

#endif
