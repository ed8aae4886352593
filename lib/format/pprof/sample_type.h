/*
 * The sample types of pprof profiles and of OTLP profiles: one per event.
 */
#ifndef PROF_FORMAT_PPROF_SAMPLE_TYPE_H
#define PROF_FORMAT_PPROF_SAMPLE_TYPE_H

#include "profile/profile.h"

/*
 * Returns the name of an event's type. If there are two clocks, only the first
 * is "cpu", like in Go's own profiles, because readers choose a type by its
 * name.
 */
const char *pprof_type_name(const struct profile *profile, event_id id);
/*
 * Returns the requested period, or the period of the requested frequency, else
 * the mean of the samples' periods.
 */
uint64_t pprof_type_period(const struct profile *profile, event_id id);
/*
 * Returns whether all counts are below 2^63, which the values of samples must
 * be.
 */
bool pprof_values_fit(const struct profile *profile);

#endif
