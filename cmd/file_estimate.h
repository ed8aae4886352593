/*
 * How large the files of a profile that grows would be: estimated from its memory, in the
 * proportion that files so far have had. perf.data files grow while they are written.
 */
#ifndef PROF_CMD_FILE_ESTIMATE_H
#define PROF_CMD_FILE_ESTIMATE_H

#include "cmd/outputs.h"

struct file_estimate {
	double bytes_per_byte;	   /* of files, by the profile's memory */
	uint64_t checkpoint_bytes; /* of files that gave it */
	uint64_t memory;	   /* of the profile of file_estimate_begin() */
};

void file_estimate_init(struct file_estimate *estimate);

/* A profile is about to be written … */
void file_estimate_begin(struct file_estimate *estimate, const struct profile *profile);
/* … and its files have these bytes. */
void file_estimate_learn(struct file_estimate *estimate, uint64_t bytes);

/* Of a profile in these outputs; a checkpoint that was written in the last second is learnt from.
 */
uint64_t file_estimate_bytes(struct file_estimate *estimate, const struct outputs *outputs,
			     const struct profile *profile);
/* Of those of these outputs that are perf.data files, so far. */
uint64_t file_estimate_raw_bytes(const struct outputs *outputs);

#endif
