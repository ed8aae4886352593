/* Writes the samples of a pprof profile. */
#ifndef PROF_FORMAT_PPROF_SAMPLES_H
#define PROF_FORMAT_PPROF_SAMPLES_H

#include "format/pprof/stream.h"
#include "profile/profile.h"

/*
 * The place of each event among the values: the order of the profile, but the events of memory are
 * in Go's order (profile/memory_events.h). To be freed.
 */
size_t *pprof_value_indexes(const struct profile *profile);

/*
 * Writes one sample per (stack, label set). Location ids are frame ids plus one. The values are the
 * number of samples of event `counted` (if counts_samples), then the weight of each event in the
 * order of pprof_value_indexes().
 *
 * Samples are written in call tree order: each shares most callers with the one before, which
 * compresses well and is fast to read.
 *
 * times: those of the timed samples of event `counted` are written, too, if samples are counted.
 */
void pprof_put_samples(struct pprof_stream *stream, const struct profile *profile, event_id counted,
		       bool counts_samples, bool times);

#endif
