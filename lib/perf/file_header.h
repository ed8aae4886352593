/*
 * What a recording tells of itself, in the sections around its records or, down a pipe, in records
 * of perf's own.
 */
#ifndef PROF_PERF_FILE_HEADER_H
#define PROF_PERF_FILE_HEADER_H

#include "perf/file_build_ids.h"
#include "perf/file_events.h"
#include "perf/perfdata_format.h"
#include "perf/window.h"

struct file_header {
	struct file_events events;
	struct file_build_ids build_ids;
	struct perfdata_info info;
	bool in_folder; /* the records are in files beside it (perf record --threads) */
};

void file_header_init(struct file_header *header);
void file_header_deinit(struct file_header *header);

/*
 * Reads the sections of the file, and leaves the window at the first record, its end behind the
 * last. *cut_off: the file does not hold all that it should, nor any of the
 * features.
 */
MUST_CHECK struct error *file_header_read(struct file_header *header, struct window *window,
					  bool *cut_off);

/* A feature by its number; what makes no sense is passed over. */
void file_header_take_feature(struct file_header *header, uint64_t feature, struct bytes data);

#endif
