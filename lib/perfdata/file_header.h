/*
 * Reads the events and features of a perf.data file from the sections around
 * its records or, in the pipe format, from perf's own records.
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
	/* The records are in separate files of a directory (perf record
	 * --threads). */
	bool in_directory;
};

void file_header_init(struct file_header *header);
void file_header_deinit(struct file_header *header);

/*
 * Reads the sections of the file. Afterwards the input is at the first record
 * and ends after the last one. Sets *cut_off if the file is incomplete and has
 * no features.
 */
MUST_CHECK struct error *file_header_read(struct file_header *header, struct file_input *input,
					  bool *cut_off);

/* Reads the tracepoint formats that follow in a pipe. Returns false if there
 * are fewer bytes, or more than a section may have; in the latter case nothing
 * is read. */
bool file_header_read_formats(struct file_header *header, struct file_input *input,
			      uint64_t size_bytes);
/* Parses the section of a feature. Ignores unknown and malformed ones. */
void file_header_take_feature(struct file_header *header, uint64_t feature, struct bytes data);

#endif
