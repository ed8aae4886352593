/*
 * Texts about a memory profile: what was allocated, what was in use, and the
 * sampling period.
 */
#ifndef PROF_REPORT_MEMORY_TEXT_H
#define PROF_REPORT_MEMORY_TEXT_H

#include "profile/memory_events.h"

/*
 * Both functions return NULL if the profile lacks the event of bytes or of
 * objects. The caller frees the result. This one returns "5.3 GB in 1,102,748
 * objects, one sample per 512 KiB".
 */
char *memory_allocated_text(const struct profile *profile);
/*
 * Returns "229 MB in 93,940 objects at the end, 4.3 % of what was allocated",
 * or "nothing at the end".
 */
char *memory_inuse_text(const struct profile *profile);

#endif
