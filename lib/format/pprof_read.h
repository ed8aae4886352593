/*
 * pprof profiles of any producer, gzipped or plain: prof, Go, perf_to_profile, pprof-rs and others.
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * - Sample types become events. The one that pprof shows without being told which (the default
 *   type, or else the last) is event 0. A first type "samples" counts the samples of event 0.
 * - Each location becomes a frame, each mapping a module; mappings of one file that follow each
 *   other become one. The first mapping is the main program. Addresses stay as they are.
 * - The labels comm, thread, pid and tid become the thread; other labels are left out, and so are
 *   drop_frames, keep_frames and the notes on functions that are no use to anyone.
 * - What contradicts itself is an error: ids and strings that are not there, differences of
 *   profiles (negative values).
 */
#ifndef PROF_FORMAT_PPROF_READ_H
#define PROF_FORMAT_PPROF_READ_H

#include "format/format.h"

bool pprof_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *pprof_read(FILE *in, struct profile *profile);

#endif
