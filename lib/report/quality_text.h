/*
 * Texts about the quality of a recording: "12,345 samples, 0 lost, 3 truncated
 * (0.1 %), …".
 */
#ifndef PROF_REPORT_QUALITY_TEXT_H
#define PROF_REPORT_QUALITY_TEXT_H

#include "profile/profile.h"

/*
 * Returns the text, which the caller frees. For a recording of memory only it
 * is quality_memory_text().
 */
char *quality_text(const struct profile_quality *quality);
/*
 * Returns "20,424 sampled allocations, 0 lost, …", or NULL if memory was not
 * recorded. The caller frees it.
 */
char *quality_memory_text(const struct profile_quality *quality);
/*
 * Returns the kernel's count of an event and the share that was sampled: "1.25
 * s of CPU time, 99.8 % of it sampled", "1.25 s of CPU time; its samples add up
 * to 1.27 s". Returns NULL if the count is unknown. The caller frees it.
 */
char *quality_counted_text(const struct profile *profile, event_id event);
/*
 * Returns whether only off-CPU time was recorded, so that the numbers of
 * samples do not matter.
 */
bool quality_is_of_waiting(const struct profile_quality *quality);
/*
 * Returns the line below the title of outputs: the headline of the profile,
 * else the quality. If only off-CPU time was recorded, it is where the time of
 * threads went. Returns "" if all are unknown. The caller frees it.
 */
char *quality_headline(const struct profile_info *info);
/*
 * Like quality_headline(), for outputs that show one event. If the profile has
 * several events, the line contains the event's name, and its own counts if
 * they are known: "page-faults: 324 samples, 0 truncated, …". The caller frees
 * it.
 */
char *quality_event_headline(const struct profile *profile, event_id event);

#endif
