/*
 * A profile of memory in words: what was allocated, what was in use, and how it was sampled.
 */
#ifndef PROF_REPORT_MEMORY_TEXT_H
#define PROF_REPORT_MEMORY_TEXT_H

#include "profile/memory_events.h"

/*
 * Both are NULL if the profile lacks the event of bytes or that of objects. To be freed.
 * "5.3 GB in 1,102,748 objects, one sample per 512 KiB"
 */
char *memory_allocated_text(const struct profile *profile);
/* "229 MB in 93,940 objects at the end, 4.3 % of what was allocated", "nothing at the end" */
char *memory_inuse_text(const struct profile *profile);

#endif
