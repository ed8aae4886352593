/*
 * The samples of a pprof profile: the one message of which there are as many as distinct stacks, so
 * its two lists of numbers are packed by hand, in a fourth of the time that protobuf-c takes.
 */
#ifndef PROF_FORMAT_PPROF_SAMPLES_H
#define PROF_FORMAT_PPROF_SAMPLES_H

#include "format/pprof_stream.h"
#include "profile/profile.h"

/*
 * Writes a sample for each stack and thread, whose locations are the profile's frames plus one. The
 * values are the samples of the first event, where counts_samples, then the weight of each event.
 *
 * They come in the order of the call tree: so a sample has most of its callers in common with the
 * one before, which compresses well, and is read with few steps.
 */
void pprof_put_samples(struct pprof_stream *stream, const struct profile *profile,
		       bool counts_samples);

#endif
