/*
 * A recording for a client: a process that executes a command of prof, and what it leaves. The
 * profile is in memory that has no name; the process ends with this one.
 */
#ifndef PROF_SERVE_PROFILE_JOB_H
#define PROF_SERVE_PROFILE_JOB_H

#include "base/loop.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a profile. */
#define PROFILE_JOB_BYTES_MAX (UINT64_C(256) << 20)

struct profile_job;

struct profile_result {
	bool is_whole;	 /* the command has succeeded */
	bool was_killed; /* a signal has ended it */
	int fd;		 /* the profile: what the command wrote to its stdout; to be closed */
	uint64_t bytes;
	char *words; /* what it said on stderr, cut at 64 KiB; to be freed */
	uint64_t cpu_ns;
};

/* Executes prof with these words, which end with NULL; `done` is called at its end. The loop must
 * not be freed before the job. */
MUST_CHECK struct error *profile_job_start(char *const *words, struct loop *loop,
					   loop_callback *done, void *user,
					   struct profile_job **ret);
/* After `done`. Frees the job. */
void profile_job_finish(struct profile_job *job, struct profile_result *ret);
/* Ends the process at once, and frees the job. NULL is allowed. Returns the CPU time that it had
 * used. */
uint64_t profile_job_cancel(struct profile_job *job);

/* What the words of prof record say was recorded: the numbers of "prof: 1,234 samples, 0 lost". */
struct profile_counts {
	uint64_t samples, lost;
};
struct profile_counts profile_counts_of(const char *words);

#endif
