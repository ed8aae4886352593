/*
 * Writes the records of a recording to a perf.data file while they are read.
 */
#ifndef PROF_RECORD_RAW_FILE_H
#define PROF_RECORD_RAW_FILE_H

#include "base/bytes.h"
#include "perf/sampler.h"
#include "perfdata/writer.h"
#include "proc/address_spaces.h"
#include "proc/names.h"

#include <sys/types.h>

/* Without a file if zeroed; all functions do nothing then. */
struct raw_file {
	struct written_event *events; /* one per variant of each event */
	char **names;
	size_t event_count;
	const struct event *sampled; /* events of the sampler; borrowed */
	struct perfdata_writer *writer;
};

/* Takes ownership of fd, an empty regular file. events are those of the
 * sampler; borrowed. */
void raw_file_begin(struct raw_file *raw, int fd, const struct sampler *sampler,
		    const struct event *events);
void raw_file_deinit(struct raw_file *raw);

/* Adds a process that existed before the recording: the names of its threads
 * and its mappings. text is that of its /proc/PID/maps (proc/maps.h). */
void raw_file_add_process(struct raw_file *raw, struct names *names, pid_t pid, struct bytes text);
void raw_file_put(struct raw_file *raw, const struct record *record);
/* Must be called when all rings have been read once. */
void raw_file_end_round(struct raw_file *raw);
/* Writes the records so far to the file. */
void raw_file_flush(struct raw_file *raw);
/* Completes the file. No record may be put after that. spaces provides the
 * build-ids. */
MUST_CHECK struct error *raw_file_end(struct raw_file *raw, const struct address_spaces *spaces,
				      const char *command);

#endif
