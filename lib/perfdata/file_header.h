/*
 * The events and features of a perf.data file: from the sections around its records or, in the
 * format of a pipe, from records of perf's own.
 */
#ifndef PROF_PERFDATA_FILE_HEADER_H
#define PROF_PERFDATA_FILE_HEADER_H

#include "perfdata/file_build_ids.h"
#include "perfdata/file_events.h"
#include "perfdata/file_input.h"
#include "perfdata/format.h"

struct file_header {
	struct file_events events;
	struct file_build_ids build_ids;
	struct perfdata_info info;
	bool in_directory; /* the records are in files beside it (perf record --threads) */
};

void file_header_init(struct file_header *header);
void file_header_deinit(struct file_header *header);

/*
 * Reads the sections of the file. Then the input is at the first record and ends after the last
 * one. *cut_off: the file is incomplete and has no features.
 */
MUST_CHECK struct error *file_header_read(struct file_header *header, struct file_input *input,
					  bool *cut_off);

/* Takes the formats of tracepoints that follow in a pipe. False: there are fewer bytes, or more
 * than a section may have, none of which is read then. */
bool file_header_read_formats(struct file_header *header, struct file_input *input,
			      uint64_t size_bytes);
/* Takes the section of a feature; unknown and malformed ones are ignored. */
void file_header_take_feature(struct file_header *header, uint64_t feature, struct bytes data);

#endif
