/*
 * Recognizes benchmark harnesses that repeat a function for a fixed time, by
 * the functions that call it.
 *
 * The CPU time of such a run depends on the harness, not on the speed of the
 * function: criterion runs each benchmark for five seconds, however slow it is.
 * Therefore CPU time cannot compare two runs.
 */
#ifndef PROF_REPORT_HARNESS_H
#define PROF_REPORT_HARNESS_H

#include "profile/profile.h"

/*
 * Returns the name of the harness ("criterion") whose functions call at least
 * half of the event's weight, or NULL.
 */
const char *harness_of(const struct profile *profile, event_id event);

#endif
