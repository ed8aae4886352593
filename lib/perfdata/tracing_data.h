/*
 * The formats of tracepoints in a perf.data file: its section TRACING_DATA, which perf script and
 * perf report need to decode fields.
 *
 * Reading stops at the first byte that does not fit: what came before is used.
 * Source: tools/perf/Documentation/perf.data-file-format.txt, HEADER_TRACING_DATA;
 * tools/perf/util/trace-event-info.c writes it.
 */
#ifndef PROF_PERFDATA_TRACING_DATA_H
#define PROF_PERFDATA_TRACING_DATA_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracing_format {
	const char *subsystem;
	struct bytes text; /* as in tracefs */
};

/* Formats of one subsystem are given together. The texts of tracefs header_page and header_event
 * come first. The caller frees the result. */
char *tracing_data_encode(const char *header_page, const char *header_event,
			  const struct tracing_format *formats, size_t count, size_t *len);

/* Formats that are still to be read; all borrow the section. */
struct tracing_data {
	struct bytes rest;
	const char *subsystem;
	uint32_t subsystems, formats; /* that are to come, of all and of this subsystem */
};

/* False: it is not such a section, or of a machine with the other byte order. */
bool tracing_data_open(struct bytes section, struct tracing_data *ret);
bool tracing_data_next(struct tracing_data *data, struct tracing_format *ret);

#endif
