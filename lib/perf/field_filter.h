/*
 * Checks the filter of a tracepoint before the kernel gets it, which refuses a wrong one without
 * saying where it is wrong, and replaces the names of values (field_names.h) by their numbers,
 * which the kernel takes alone: "prev_state == D", 'prev_state == "D"'.
 *
 * The language is the kernel's: FIELD OPERATOR VALUE, joined by && and ||, negated by !, grouped by
 * parentheses. Operators of numbers are == != < <= > >= &, of strings == != and ~ with a pattern;
 * strings are quoted. CPU and COMM are fields of all tracepoints.
 * Source: Documentation/trace/events.rst, "Event filtering"; kernel/trace/trace_events_filter.c.
 */
#ifndef PROF_PERF_FIELD_FILTER_H
#define PROF_PERF_FIELD_FILTER_H

#include "base/error.h"
#include "perf/tracepoint_format.h"

/*
 * *ret: the filter as the kernel takes it; the caller frees it. The hint of the error shows the
 * filter with a caret under the place. tracepoint: its name.
 */
MUST_CHECK struct error *field_filter_translate(const char *filter, const char *tracepoint,
						const struct tracepoint_format *format, char **ret);

#endif
