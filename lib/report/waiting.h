/*
 * Off-CPU time in relation to CPU time: how the time of all threads divides.
 *
 * The event "off-cpu" counts nanoseconds; its stacks end in the reason of the
 * wait. If a file lacks the recorder's sums (struct waiting_quality), they are
 * computed from the samples.
 */
#ifndef PROF_REPORT_WAITING_H
#define PROF_REPORT_WAITING_H

#include "profile/profile.h"

/* Stores the event. Returns false if the profile has no off-CPU time. */
bool waiting_event(const struct profile *profile, event_id *ret);

/*
 * Returns whether the samples of this event and of off-CPU time add up to the
 * time of the threads: the event is CPU time in nanoseconds. Outputs that show
 * one event then show both, unless the user has chosen one.
 */
bool waiting_adds_to(const struct profile *profile, event_id event, event_id *waiting);

/*
 * Stores the sums of the recorder. If the file lacks them, computes the times
 * up to waiting_ns from the samples. Returns false if the profile lacks off-CPU
 * time or CPU time, because the whole is unknown then.
 */
bool waiting_sums(const struct profile *profile, struct waiting_quality *ret);

/*
 * Returns whether the leaf frame of an off-CPU stack stands for time in which
 * the thread was runnable.
 */
bool waiting_is_runnable(const char *name);

/*
 * Returns "12.0 thread-seconds: 3.1 on CPU, 0.4 runnable, 8.5 waiting". The
 * caller frees it.
 */
char *waiting_text(const struct waiting_quality *sums);
/*
 * Returns how much of the waiting time has a stack, if that is notable: "97.0 %
 * of the waiting time has a stack read during the wait, 3.0 % is attributed to
 * other waits of the same threads". Returns NULL if nearly all has one. The
 * caller frees it.
 */
char *waiting_places_text(const struct waiting_quality *sums);
/*
 * Returns "0.30 s of waiting were omitted: short waits or idle threads", or NULL
 * if nothing was omitted. The caller frees it.
 */
char *waiting_left_out_text(const struct waiting_quality *sums);

#endif
