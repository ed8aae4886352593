/*
 * Checks the filter of a tracepoint before it is passed to the kernel, whose
 * error does not name the wrong place. Replaces value names (field_names.h) by
 * their numbers, because the kernel accepts only numbers: "prev_state == D",
 * 'prev_state == "D"'.
 *
 * The language is the kernel's: FIELD OPERATOR VALUE, joined by && and ||,
 * negated by !, grouped by parentheses. Numbers take the operators == != < <= >
 * >= &. Strings are quoted and take ==, != and ~ with a pattern. CPU and COMM
 * are fields of all tracepoints.
 *
 * Source: Documentation/trace/events.rst, "Event filtering";
 * kernel/trace/trace_events_filter.c.
 */
#ifndef PROF_PERF_FIELD_FILTER_H
#define PROF_PERF_FIELD_FILTER_H

#include "base/error.h"
#include "perf/tracepoint_format.h"

/*
 * Returns the filter for the kernel in *ret; the caller frees it. The error's
 * hint shows the filter with a caret below the wrong place. tracepoint: its
 * name.
 */
MUST_CHECK struct error *field_filter_translate(const char *filter, const char *tracepoint,
						const struct tracepoint_format *format, char **ret);

#endif
