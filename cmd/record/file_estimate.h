/*
 * Estimates the size of the files of a growing profile. The estimate is the
 * profile's memory times the ratio of earlier files. perf.data files grow while
 * they are written, so their size is known.
 */
#ifndef PROF_CMD_RECORD_FILE_ESTIMATE_H
#define PROF_CMD_RECORD_FILE_ESTIMATE_H

#include "cmd/outputs.h"

struct file_estimate {
	double bytes_per_byte;	   /* size of the files divided by the memory of the profile */
	uint64_t checkpoint_bytes; /* size of the checkpoint that the ratio comes from */
	uint64_t memory;	   /* of the profile in file_estimate_begin() */
};

void file_estimate_init(struct file_estimate *estimate);

/* Call it before a profile is written. */
void file_estimate_begin(struct file_estimate *estimate, const struct profile *profile);
/* Updates the ratio. bytes: the size of the files of the profile in
 * file_estimate_begin(). */
void file_estimate_learn(struct file_estimate *estimate, uint64_t bytes);

/* Returns the estimated size of a profile in these outputs. A checkpoint that
 * was written in the last second updates the ratio. */
uint64_t file_estimate_bytes(struct file_estimate *estimate, const struct outputs *outputs,
			     const struct profile *profile);
/* Returns the size of the perf.data files among the outputs so far. */
uint64_t file_estimate_raw_bytes(const struct outputs *outputs);

#endif
