/*
 * Reads what existed before a recording from /proc: the threads and mappings of
 * its target.
 */
#ifndef PROF_RECORD_TARGET_SNAPSHOT_H
#define PROF_RECORD_TARGET_SNAPSHOT_H

#include "record/config.h"
#include "record/pipeline.h"
#include "record/raw_file.h"

/* Adds the existing mappings. Call this after the side band is recorded, so
 * that no mapping is missed. */
void target_snapshot(const struct record_config *config, struct pipeline *pipeline,
		     struct raw_file *raw);
/* Makes the program of a running process the profile's main module. */
void target_snapshot_main_program(struct pipeline *pipeline, pid_t pid);
/* Adds the threads and mappings of one process. */
void target_snapshot_process(struct pipeline *pipeline, struct raw_file *raw, pid_t pid);
/* Adds the threads and mappings of all processes. */
void target_snapshot_all(struct pipeline *pipeline, struct raw_file *raw);

#endif
