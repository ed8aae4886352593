/*
 * The build-ids that perf read from the mapped files when a recording ended: by the name under
 * which they were mapped.
 */
#ifndef PROF_PERF_FILE_BUILD_IDS_H
#define PROF_PERF_FILE_BUILD_IDS_H

#include "base/strtab.h"
#include "perf/record.h"

struct file_build_id {
	string_id path;
	uint8_t id[RECORD_BUILD_ID_MAX];
	uint8_t len;
};

struct file_build_ids {
	struct strtab *paths;
	struct file_build_id *items; /* one a path, by its string_id; len 0: none */
	size_t room;
};

void file_build_ids_init(struct file_build_ids *ids);
void file_build_ids_deinit(struct file_build_ids *ids);

/* Records of PERFDATA_BUILD_ID one behind the other, to the end or to where they make no sense. */
void file_build_ids_add(struct file_build_ids *ids, struct bytes records);
/* The build-id of a path; the result is its length, 0: unknown. */
unsigned file_build_ids_get(struct file_build_ids *ids, const char *path,
			    uint8_t ret[RECORD_BUILD_ID_MAX]);

#endif
