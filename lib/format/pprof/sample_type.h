/* The sample types of pprof profiles, which OTLP profiles have, too: one per event. */
#ifndef PROF_FORMAT_PPROF_SAMPLE_TYPE_H
#define PROF_FORMAT_PPROF_SAMPLE_TYPE_H

#include "profile/profile.h"

/*
 * The name of an event's type. Of two clocks only the first is "cpu", as in Go's own profiles:
 * readers choose a type by its name.
 */
const char *pprof_type_name(const struct profile *profile, event_id id);
/*
 * The requested period, or that of the requested frequency; otherwise the mean of the samples'
 * periods.
 */
uint64_t pprof_type_period(const struct profile *profile, event_id id);
/* Whether all counts are below 2^63, as the values of samples must be. */
bool pprof_values_fit(const struct profile *profile);

#endif
