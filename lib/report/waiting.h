/*
 * Waiting in words, and beside CPU time: where the time of all threads went.
 *
 * Waiting is the event "off-cpu", in nanoseconds, whose stacks end in the reason. A file that
 * lacks the recorder's sums (struct waiting_quality) has them in its samples.
 */
#ifndef PROF_REPORT_WAITING_H
#define PROF_REPORT_WAITING_H

#include "profile/profile.h"

/* Returns false if the profile has no such event. */
bool waiting_event(const struct profile *profile, event_id *ret);

/*
 * Whether samples of this event and of waiting add up to the time of the threads: it is CPU time,
 * in nanoseconds too. Outputs that show one event show both then, unless the user has chosen one.
 */
bool waiting_adds_to(const struct profile *profile, event_id event, event_id *waiting);

/*
 * The sums of the recorder; if the file lacks them, those of the samples, with only the times up to
 * waiting_ns. Returns false without waiting or without CPU time: the whole is not known then.
 */
bool waiting_sums(const struct profile *profile, struct waiting_quality *ret);

/* Whether a leaf frame of waiting is that of the time in which a thread could have run, but had no
 * CPU. */
bool waiting_is_wanted_cpu(const char *name);

/* "of 12.0 thread-seconds 3.1 CPU, 0.4 wanted a CPU, 8.5 waiting". To be freed. */
char *waiting_text(const struct waiting_quality *sums);
/*
 * How surely the places of waiting are known, where that is worth a word: "97.0 % of the waiting
 * time was seen on the stack, 3.0 % is placed by other waits of the same threads"; NULL: nearly all
 * was seen. To be freed.
 */
char *waiting_places_text(const struct waiting_quality *sums);
/* "0.30 s of waiting were left out: short waits, or idle threads"; NULL: nothing was. To be freed.
 */
char *waiting_left_out_text(const struct waiting_quality *sums);

#endif
