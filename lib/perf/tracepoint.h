/*
 * Tracepoints: their numbers and fields, read from tracefs.
 */
#ifndef PROF_PERF_TRACEPOINT_H
#define PROF_PERF_TRACEPOINT_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether it is "subsystem:event" of letters, digits, '_' and '-', so that it cannot lead out of
 * tracefs. */
bool tracepoint_is_name(const char *name);

/*
 * The perf_event_attr.config of a tracepoint. roots: directories where tracefs may be mounted,
 * NULL-terminated; NULL: the usual two.
 */
MUST_CHECK struct error *tracepoint_id(const char *name, const char *const *roots, uint64_t *ret);

/* Where a field is in the raw data of a sample. */
struct tracepoint_field {
	unsigned offset, bytes;
};

MUST_CHECK struct error *tracepoint_find_field(const char *name, const char *const *roots,
					       const char *field, struct tracepoint_field *ret);

#endif
