/*
 * A recording of perf as a source of records: a file or a pipe, of any event, compressed or not.
 *
 * The records of a file are nearly in order: perf reads ring after ring, and says when it has read
 * each once. They are given out in order of time, as sampler_next() gives live ones; those of the
 * kernel and of its modules, and what perf makes up for itself, are not. Times are of perf's clock,
 * where the recording has any, and count the records where not. Whatever the size of the recording,
 * memory stays below 100 MB.
 *
 * A recording that is cut off (perf was killed, the disk full) or damaged gives what can be read,
 * and a problem that says so. Source: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROF_PERF_PERFDATA_H
#define PROF_PERF_PERFDATA_H

#include "base/error.h"
#include "perf/record.h"

struct perfdata_event {
	char *name;
	bool counts_ns;	       /* its periods are nanoseconds of CPU time */
	uint64_t period;       /* as perf was asked for: 0 by frequency … */
	uint64_t frequency_hz; /* … and the other way round */
};

/* Where and how it was made. NULL, or 0: the recording does not say. */
struct perfdata_info {
	char *host;
	char *kernel_release;
	char *machine; /* as uname(2) calls it: "x86_64" */
	char *command; /* perf's own command line */
	/* The kernel: its build-id, and where its code was when the recording began. */
	uint8_t kernel_build_id[RECORD_BUILD_ID_MAX];
	unsigned kernel_build_id_bytes;
	uint64_t kernel_start, kernel_end;
};

struct perfdata;

/*
 * Takes fd in every case; reads on until it has seen what perf tells in front of the first record.
 * Fails on what is no recording, or one that nothing can be made of.
 */
MUST_CHECK struct error *perfdata_open(int fd, struct perfdata **ret);
void perfdata_free(struct perfdata *perfdata);
DEFINE_CLEANUP(perfdata, perfdata_free)

/* Lives as long as perfdata; the command and the names of events may come late down a pipe. */
const struct perfdata_info *perfdata_info(const struct perfdata *perfdata);
/* What took samples: record.sample.event counts these. More may come while a pipe is read. */
unsigned perfdata_event_count(const struct perfdata *perfdata);
const struct perfdata_event *perfdata_event(const struct perfdata *perfdata, unsigned event);

/* False at the end. The record is borrowed until the next call. */
bool perfdata_next(struct perfdata *perfdata, struct record *ret);

/* Sentences on what could not be read, for the user; complete at the end. Borrowed; NULL behind the
 * last. */
const char *perfdata_problem(struct perfdata *perfdata, unsigned index);

#endif
