/*
 * Stores the build-ids of a perf.data file by the path of the mapped file. perf
 * reads them from the files at the end of the recording.
 */
#ifndef PROF_PERFDATA_FILE_BUILD_IDS_H
#define PROF_PERFDATA_FILE_BUILD_IDS_H

#include "base/strtab.h"
#include "perf/record.h"

struct file_build_id {
	string_id path;
	uint8_t id[RECORD_BUILD_ID_MAX];
	uint8_t len;
};

struct file_build_ids {
	struct strtab *paths;
	/* Indexed by the string_id of the path; len is 0 without a build-id. */
	struct file_build_id *items;
	size_t room;
};

void file_build_ids_init(struct file_build_ids *ids);
void file_build_ids_deinit(struct file_build_ids *ids);

/* Adds records of type PERFDATA_BUILD_ID. Stops at a malformed one. */
void file_build_ids_add(struct file_build_ids *ids, struct bytes records);
/* Returns the length of the path's build-id, or 0 if it is unknown. */
unsigned file_build_ids_get(struct file_build_ids *ids, const char *path,
			    uint8_t ret[RECORD_BUILD_ID_MAX]);

#endif
