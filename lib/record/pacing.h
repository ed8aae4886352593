/*
 * Decides when the rings are read and whether each sample wakes a copier of deep stacks, from the
 * rate of the samples and the depth of their stacks.
 *
 * Per-sample wakeups cost the sampled thread twice what the sample does. They are on for a quarter
 * of a second at the start and for a second after a stack that was larger than its copy; never
 * above 20,000 samples per second and CPU.
 */
#ifndef PROF_RECORD_PACING_H
#define PROF_RECORD_PACING_H

#include "perf/sampler.h"
#include "record/session.h"

struct pacing {
	struct sampler *sampler;
	bool low_overhead;
	bool was_deep;		      /* a stack since the last batch that capture would help */
	uint64_t deep_ns;	      /* when one came last */
	uint64_t samples, samples_ns; /* their number at the last measurement of the rate */
	bool is_fast;		      /* samples come too fast to wake a copier each */
	uint64_t paid_ns;	      /* reads up to now are due until then */
	uint64_t missed;	      /* files */
	uint64_t hurries_until_ns;    /* reads come often until then */
};

/* low_overhead: reads the rings at intervals, not when they have reached their watermark. */
void pacing_begin(struct pacing *pacing, struct sampler *sampler, bool low_overhead);
/* Nothing was sampled for this time, in which pacing_after_batch() was not called. */
void pacing_skip(struct pacing *pacing, uint64_t paused_ns);
/* The session's counts have begun at 0 again. */
void pacing_restart(struct pacing *pacing);

/* After the session was fed with the record. */
void pacing_after_record(struct pacing *pacing, const struct record *record,
			 const struct session *session);
void pacing_after_batch(struct pacing *pacing, const struct session *session, uint64_t now_ns);

/* The latest time of the next read. */
uint64_t pacing_next_ns(const struct pacing *pacing, uint64_t now_ns);
/*
 * After a read: no record needs to wake the reader before this time.
 *
 * Each record of the side band does, so that a file is opened while its process lives; where
 * processes come and go that is hundreds of times per second, for a record or two. Up to 25 reads
 * come at once; beyond them there is one in the time of ten samples of a CPU, between 20 and 100
 * ms. There is one each 20 ms for 10 s after a file could not be opened, for the next process that
 * maps it must not be missed as well, and after a ring of the side band was a fifth full. Only
 * where samples do not wake the reader.
 */
uint64_t pacing_rests_until_ns(struct pacing *pacing, uint64_t now_ns);

#endif
