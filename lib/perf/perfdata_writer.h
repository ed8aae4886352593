/*
 * Writes a recording as perf.data: the records as they come, what else belongs into the file at the
 * end.
 *
 * Records that were read from a ring are written as they are; others (what was there before the
 * recording began, losses that no record tells of) are encoded from what is decoded in them:
 * mappings, names, losses. An error stays until the end, and nothing is written behind it.
 */
#ifndef PROF_PERF_PERFDATA_WRITER_H
#define PROF_PERF_PERFDATA_WRITER_H

#include "base/error.h"
#include "perf/perfdata.h"
#include "perf/record.h"

struct perfdata_writer;

struct written_event {
	const char *name;
	struct bytes attr; /* the perf_event_attr it was opened with */
};

/* Takes fd in every case, which must be a file that can be written at any place. events and layout
 * (of all of them, with their ids where there are several) are borrowed. */
struct perfdata_writer *perfdata_writer_new(int fd, const struct written_event *events,
					    size_t event_count, const struct record_layout *layout);
/* What was not finished stays a file that was cut off. */
void perfdata_writer_free(struct perfdata_writer *writer);
DEFINE_CLEANUP(perfdata_writer, perfdata_writer_free)

void perfdata_writer_put(struct perfdata_writer *writer, const struct record *record);
/* What comes from now on is younger than all that came before the last call. */
void perfdata_writer_end_round(struct perfdata_writer *writer);
void perfdata_writer_add_build_id(struct perfdata_writer *writer, const char *path,
				  const uint8_t *id, unsigned len);

/* After it nothing more may be put. */
MUST_CHECK struct error *perfdata_writer_finish(struct perfdata_writer *writer,
						const struct perfdata_info *info);

#endif
