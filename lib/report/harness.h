/*
 * Benchmark harnesses that repeat a function for a fixed time, recognized by the functions that
 * call it.
 *
 * The CPU time of such a run depends on the harness, not on the speed of the function: criterion
 * runs each benchmark for five seconds, however slow it is. So two runs cannot be compared by it.
 */
#ifndef PROF_REPORT_HARNESS_H
#define PROF_REPORT_HARNESS_H

#include "profile/profile.h"

/* The harness whose functions call at least half of the event's weight: "criterion"; NULL: none. */
const char *harness_of(const struct profile *profile, event_id event);

#endif
