/*
 * A recording for a client: a process that executes a command of prof, and its
 * result. The profile is in anonymous memory. The process ends when this one
 * ends.
 */
#ifndef PROF_SERVE_PROFILE_JOB_H
#define PROF_SERVE_PROFILE_JOB_H

#include "base/loop.h"

#include <stdbool.h>
#include <stdint.h>

/* The maximum size of a profile in bytes. */
#define PROFILE_JOB_BYTES_MAX (UINT64_C(256) << 20)

struct profile_job;

struct profile_result {
	bool is_whole;	 /* the command succeeded */
	bool was_killed; /* a signal ended the command */
	int fd;		 /* the profile: the command's stdout; the caller closes it */
	uint64_t bytes;
	char *words; /* the command's stderr, truncated to 64 KiB; the caller frees it */
	uint64_t cpu_ns;
};

/*
 * Executes prof with these arguments, which are NULL-terminated; `done` is
 * called at its end. The loop must not be freed before the job.
 */
MUST_CHECK struct error *profile_job_start(char *const *words, struct loop *loop,
					   loop_callback *done, void *user,
					   struct profile_job **ret);
/* Stores the result and frees the job. Call it after `done`. */
void profile_job_finish(struct profile_job *job, struct profile_result *ret);
/*
 * Kills the process and frees the job. Accepts NULL. Returns the CPU time that
 * the process has used.
 */
uint64_t profile_job_cancel(struct profile_job *job);

/*
 * The numbers of "prof: 1,234 samples, 0 lost" in the messages of prof record.
 */
struct profile_counts {
	uint64_t samples, lost;
};
struct profile_counts profile_counts_of(const char *words);

#endif
