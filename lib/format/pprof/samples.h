/* Writes the samples of a pprof profile. */
#ifndef PROF_FORMAT_PPROF_SAMPLES_H
#define PROF_FORMAT_PPROF_SAMPLES_H

#include "format/pprof/stream.h"
#include "profile/profile.h"

/*
 * Returns the index of each event's value. The order is that of the profile,
 * except that the memory events are in Go's order (profile/memory_events.h).
 * The caller frees the result.
 */
size_t *pprof_value_indexes(const struct profile *profile);

/*
 * Writes one sample per (stack, label set). Location ids are frame ids plus
 * one. The values are the number of samples of event `counted` (if
 * counts_samples), then the weight of each event in the order of
 * pprof_value_indexes().
 *
 * Samples are written in call tree order: each shares most callers with the
 * previous one, which compresses well and is fast to read.
 *
 * times: also writes the times of the timed samples of event `counted`, if
 * samples are counted.
 */
void pprof_put_samples(struct pprof_stream *stream, const struct profile *profile, event_id counted,
		       bool counts_samples, bool times);

#endif
