/*
 * Tracepoints: their numbers, as tracefs tells them.
 */
#ifndef PROF_PERF_TRACEPOINT_H
#define PROF_PERF_TRACEPOINT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* "subsystem:event", of letters, digits, '_' and '-': nothing that could lead out of tracefs. */
bool tracepoint_is_name(const char *name);

/*
 * What goes into perf_event_attr.config for the tracepoint. `roots`: the folders where tracefs may
 * be mounted, NULL at the end; NULL: the usual two.
 */
MUST_CHECK struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret);

#endif
