/*
 * Writes a perf.data file: records as they arrive, and features at the end.
 *
 * Ring records are written unchanged. Synthesized records (mappings and names
 * from before the recording, losses) are encoded. After an error nothing more
 * is written, and perfdata_writer_finish() returns the error.
 */
#ifndef PROF_PERFDATA_WRITER_H
#define PROF_PERFDATA_WRITER_H

#include "base/error.h"
#include "perf/record.h"
#include "perfdata/perfdata.h"

struct perfdata_writer;

struct written_event {
	const char *name;
	struct bytes attr; /* the perf_event_attr of the event */
	/* The kernel's ids of the event, u64s. A single event needs none. */
	struct bytes ids;
};

/* Takes ownership of fd, even on failure; it must be seekable. events, at least
 * one, is borrowed. */
struct perfdata_writer *perfdata_writer_new(int fd, const struct written_event *events,
					    size_t event_count);
/* Without perfdata_writer_finish() the file remains incomplete. */
void perfdata_writer_free(struct perfdata_writer *writer);
DEFINE_CLEANUP(perfdata_writer, perfdata_writer_free)

void perfdata_writer_put(struct perfdata_writer *writer, const struct record *record);
/* Declares that all records from now on are younger than the records before the
 * previous call. */
void perfdata_writer_end_round(struct perfdata_writer *writer);
void perfdata_writer_add_build_id(struct perfdata_writer *writer, const char *path,
				  const uint8_t *id, unsigned len);

/* Sets the section TRACING_DATA (tracing_data.h) of a recording with
 * tracepoints. The bytes are copied. */
void perfdata_writer_set_tracing_data(struct perfdata_writer *writer, struct bytes section);

/* Writes all records so far into the file, which can then be read as a
 * truncated recording. */
void perfdata_writer_flush(struct perfdata_writer *writer);

/* Writes the rest of the file. No records may be added afterwards. */
MUST_CHECK struct error *perfdata_writer_finish(struct perfdata_writer *writer,
						const struct perfdata_info *info);

#endif
