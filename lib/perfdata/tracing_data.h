/*
 * Reads and writes the section TRACING_DATA of a perf.data file, the formats of
 * tracepoints. perf script and perf report need it to decode fields.
 *
 * Reading stops at the first malformed byte, and what precedes it is used.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt,
 * HEADER_TRACING_DATA; tools/perf/util/trace-event-info.c writes it.
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

/* Formats of one subsystem must be adjacent. header_page and header_event are
 * texts of tracefs. The caller frees the result. */
char *tracing_data_encode(const char *header_page, const char *header_event,
			  const struct tracing_format *formats, size_t count, size_t *len);

/* The formats that remain to be read; all borrow the section. */
struct tracing_data {
	struct bytes rest;
	const char *subsystem;
	/* Numbers of remaining subsystems, and of remaining formats of this
	 * subsystem. */
	uint32_t subsystems, formats;
};

/* Returns false if it is not such a section, or if it has the other byte
 * order. */
bool tracing_data_open(struct bytes section, struct tracing_data *ret);
bool tracing_data_next(struct tracing_data *data, struct tracing_format *ret);

#endif
