/*
 * Reads a perf.data file or pipe, compressed or not, as a source of records.
 *
 * Records are given out in time order, as by sampler_next() (reorder.h). Mappings of the kernel
 * and of its modules are of process -1. Records that perf writes for itself are left out. Times are
 * of perf's clock; in a recording without times they are the numbers of the records. Memory stays
 * below 100 MB for any size of recording.
 *
 * An incomplete recording (perf was killed, the disk was full) or a damaged one gives what can be
 * read, and a problem that says so. Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROF_PERFDATA_PERFDATA_H
#define PROF_PERFDATA_PERFDATA_H

#include "base/error.h"
#include "perf/record.h"
#include "perf/record_source.h"
#include "perfdata/description.h"

struct perfdata;

/* Takes fd in every case. Reads up to the first record. Fails if the file is not a usable perf.data
 * file. */
MUST_CHECK struct error *perfdata_open(int fd, struct perfdata **ret);
void perfdata_free(struct perfdata *perfdata);
DEFINE_CLEANUP(perfdata, perfdata_free)

/* Borrowed. From a pipe the command and the names of events may come after records. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
/* The events that take samples: record.sample.event is an index into them. From a pipe more may
 * come. */
unsigned perfdata_event_count(const struct perfdata *perfdata);
const struct perfdata_event *perfdata_event(const struct perfdata *perfdata, unsigned event);

/*
 * Samples of tracepoints weigh this field and have these as fields (field_reader.h); NULL: as
 * recorded, none. Events without them stay as they are. False: no event has one of them, whose name
 * is *missing, or its format is not in the file. To be called before the first record.
 */
bool perfdata_choose_fields(struct perfdata *perfdata, const char *weight,
			    const char *const *labels, size_t label_count, const char **missing);

/* False at the end. The record is borrowed until the next call. */
bool perfdata_next(struct perfdata *perfdata, struct record *ret);

/* Messages for the user about what could not be read, complete after the last record. Borrowed;
 * NULL after the last one. */
const char *perfdata_problem(struct perfdata *perfdata, unsigned index);

/* The recording as a source of records, which owns it. */
struct record_source perfdata_source(struct perfdata *perfdata);

#endif
