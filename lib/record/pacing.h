/*
 * Decides when the rings are read and whether each sample wakes a copier of
 * deep stacks, based on the sampling rate and the depth of stacks.
 *
 * A wakeup costs the sampled thread twice as much as the sample. Samples wake a
 * copier for a quarter of a second at the start, and for a second after a stack
 * that was larger than its copy. They never do at more than 20,000 samples/s
 * per CPU.
 */
#ifndef PROF_RECORD_PACING_H
#define PROF_RECORD_PACING_H

#include "perf/sampler.h"
#include "record/session.h"

struct pacing {
	struct sampler *sampler;
	bool low_overhead;
	bool was_deep;	  /* since the last batch, a stack was truncated that a copier could have
			     captured */
	uint64_t deep_ns; /* time of the last such stack */
	uint64_t samples, samples_ns; /* number and time at the last measurement of the rate */
	bool is_fast;		      /* the rate is too high to wake a copier for each sample */
	uint64_t paid_ns;	      /* reads up to now are accounted for until this time */
	uint64_t missed;	      /* files that could not be opened so far */
	uint64_t fast_until_ns;	      /* reads are frequent until this time */
};

/* With low_overhead, the rings are read at intervals and not when they reach
 * their watermark. */
void pacing_begin(struct pacing *pacing, struct sampler *sampler, bool low_overhead);
/* Must be called after a pause of paused_ns without samples and without calls
 * of pacing_after_batch(). */
void pacing_skip(struct pacing *pacing, uint64_t paused_ns);
/* Must be called when the session's counts restart at 0. */
void pacing_restart(struct pacing *pacing);

/* Must be called after the session has taken the record. */
void pacing_after_record(struct pacing *pacing, const struct record *record,
			 const struct session *session);
void pacing_after_batch(struct pacing *pacing, const struct session *session, uint64_t now_ns);

/* Returns the latest time of the next read. */
uint64_t pacing_next_ns(const struct pacing *pacing, uint64_t now_ns);
/*
 * Must be called after a read. Returns the time before which no record needs to
 * wake the reader.
 *
 * Each record of the side band wakes the reader, so that a file is opened while
 * its process runs. Where many processes start and exit, this causes hundreds
 * of reads per second for one or two records each. Therefore at most 25 reads
 * follow each other immediately. Further reads are one per ten samples of a
 * CPU, at intervals of 20 to 100 ms.
 *
 * After a file could not be opened, or after a ring of the side band was a
 * fifth full, the interval is 20 ms for 10 s. The next process with that file
 * must not be missed as well.
 *
 * Returns 0 if samples wake the reader.
 */
uint64_t pacing_throttled_until_ns(struct pacing *pacing, uint64_t now_ns);

#endif
