/*
 * How many threads of the target ran over the elapsed time. The event elapsed
 * counts nanoseconds that add up to the run; the label "parallelism" of its
 * samples is the number of threads that ran, or 0.
 */
#ifndef PROF_REPORT_PARALLELISM_H
#define PROF_REPORT_PARALLELISM_H

#include "profile/profile.h"

/* Stores the event of this name: elapsed, or critical-path. Returns false if the
 * profile does not have it. */
bool parallelism_find_event(const struct profile *profile, const char *name, event_id *ret);

/* Stores the event elapsed. Returns false if the profile does not have it. */
bool parallelism_event(const struct profile *profile, event_id *ret);

/* Stores the event elapsed if it is to be shown with this one: CPU time. */
bool parallelism_goes_with(const struct profile *profile, event_id shown, event_id *ret);

/* Stores the parallelism of a label set. Returns false if it has none, or none
 * that prof has written. */
bool parallelism_of(const struct profile *profile, label_set_id id, uint64_t *ret);

/*
 * Returns "0 threads ran 12 % of 8.40 s, 1 thread 41 %, 2 threads 47 %", with
 * the seven largest shares at most, or NULL if the profile lacks elapsed time.
 * The caller frees it.
 */
char *parallelism_text(const struct profile *profile);

#endif
