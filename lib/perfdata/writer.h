/*
 * Writes a perf.data file: the records as they come, the features at the end.
 *
 * Records of a ring are written unchanged. Synthesized records (mappings and names from before the
 * recording, losses) are encoded. After an error nothing more is written; perfdata_writer_finish()
 * returns it.
 */
#ifndef PROF_PERFDATA_WRITER_H
#define PROF_PERFDATA_WRITER_H

#include "base/error.h"
#include "perf/record.h"
#include "perfdata/perfdata.h"

struct perfdata_writer;

struct written_event {
	const char *name;
	struct bytes attr; /* the perf_event_attr it was opened with */
	struct bytes ids;  /* the kernel's ids of it, u64s; a single event needs none */
};

/* Takes fd in every case; it must be a file that can be written at any offset. events, at least
 * one, is borrowed. */
struct perfdata_writer *perfdata_writer_new(int fd, const struct written_event *events,
					    size_t event_count);
/* Without perfdata_writer_finish() the file stays incomplete. */
void perfdata_writer_free(struct perfdata_writer *writer);
DEFINE_CLEANUP(perfdata_writer, perfdata_writer_free)

void perfdata_writer_put(struct perfdata_writer *writer, const struct record *record);
/* All records from now on are younger than the records before the previous call. */
void perfdata_writer_end_round(struct perfdata_writer *writer);
void perfdata_writer_add_build_id(struct perfdata_writer *writer, const char *path,
				  const uint8_t *id, unsigned len);

/* The section TRACING_DATA (tracing_data.h), of recordings with tracepoints; copied. */
void perfdata_writer_set_tracing_data(struct perfdata_writer *writer, struct bytes section);

/* Writes what has been put so far into the file, which can then be read as a recording that was cut
 * off. */
void perfdata_writer_flush(struct perfdata_writer *writer);

/* Writes the rest of the file; nothing may be put after it. */
MUST_CHECK struct error *perfdata_writer_finish(struct perfdata_writer *writer,
						const struct perfdata_info *info);

#endif
