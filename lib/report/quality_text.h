/*
 * The quality of a recording in words: "12,345 samples, 0 lost, 3 truncated (0.1 %), …".
 */
#ifndef PROF_REPORT_QUALITY_TEXT_H
#define PROF_REPORT_QUALITY_TEXT_H

#include "profile/profile.h"

/* Of a profile of memory alone as quality_memory_text(). To be freed. */
char *quality_text(const struct profile_quality *quality);
/* "20,424 sampled allocations, 0 lost, …"; NULL: memory was not recorded. To be freed. */
char *quality_memory_text(const struct profile_quality *quality);
/* What the kernel counted of an event, and how much of it was sampled: "1.25 s of CPU time, 99.8 %
 * of it sampled", "1.25 s of CPU time; its samples add up to 1.27 s"; NULL: unknown. To be freed.
 */
char *quality_counted_text(const struct profile *profile, event_id event);
/* Only waiting was recorded: there are no samples to speak of. */
bool quality_is_of_waiting(const struct profile_quality *quality);
/* What outputs have below their title: the headline of the profile, or its quality, or of waiting
 * alone where the time went; "" where all are unknown. To be freed. */
char *quality_headline(const struct profile_info *info);
/*
 * The same for outputs that show one event. Of several events: the name of the event, and its own
 * counts if they are known: "page-faults: 324 samples, 0 truncated, …". To be freed.
 */
char *quality_event_headline(const struct profile *profile, event_id event);

#endif
