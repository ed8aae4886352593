/*
 * Reads a perf.data file or pipe, compressed or not, as a source of records.
 *
 * Records are returned in time order, as by sampler_next() (reorder.h).
 * Mappings of the kernel and its modules belong to process -1. Records that
 * perf writes for itself are omitted. Times are those of perf's clock; if the
 * recording has no times, they are record numbers. Memory stays below 100 MB
 * for a recording of any size.
 *
 * For an incomplete recording (perf was killed, the disk was full) or a damaged
 * one, the readable part is returned, and perfdata_problem() describes the
 * rest.
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROF_PERFDATA_PERFDATA_H
#define PROF_PERFDATA_PERFDATA_H

#include "base/error.h"
#include "perf/record.h"
#include "perf/record_source.h"
#include "perfdata/description.h"

struct perfdata;

/* Takes ownership of fd, even on failure. Reads up to the first record. Fails
 * if the file is not a usable perf.data file. */
MUST_CHECK struct error *perfdata_open(int fd, struct perfdata **ret);
void perfdata_free(struct perfdata *perfdata);
DEFINE_CLEANUP(perfdata, perfdata_free)

/* Borrowed. In a pipe, the command and the names of events may follow
 * records. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
/* Returns the number of events that take samples; record.sample.event is an
 * index into them. In a pipe, the number may increase. */
unsigned perfdata_event_count(const struct perfdata *perfdata);
const struct perfdata_event *perfdata_event(const struct perfdata *perfdata, unsigned event);

/* Returns whether an event has requested records of context switches. */
bool perfdata_has_switches(const struct perfdata *perfdata);

/*
 * Sets the fields that are the weight and the labels of tracepoint samples
 * (field_reader.h). weight is NULL to keep the recorded weight. Events that
 * lack a field remain unchanged. If no event has one of the fields, or its
 * format is not in the file, returns false and sets *missing to its name. Must
 * be called before the first record.
 */
bool perfdata_choose_fields(struct perfdata *perfdata, const char *weight,
			    const char *const *labels, size_t label_count, const char **missing);

/* Returns false at the end. The record is borrowed until the next call. */
bool perfdata_next(struct perfdata *perfdata, struct record *ret);

/* Returns a message for the user about a part that could not be read, or NULL
 * after the last message. The messages are complete after the last record.
 * Borrowed. */
const char *perfdata_problem(struct perfdata *perfdata, unsigned index);

/* Wraps the recording in a record source, which owns it. */
struct record_source perfdata_source(struct perfdata *perfdata);

#endif
