/*
 * pprof profiles of any producer, gzipped or plain: prof, Go, perf_to_profile, pprof-rs and others.
 * Source: https://github.com/google/pprof/blob/main/proto/profile.proto.
 *
 * - Sample types become events, "samples" the counts of one (pprof_events.h).
 * - Each location becomes a frame, each mapping a module; mappings of one file that follow each
 *   other become one. The first mapping is the main program. Addresses stay as they are.
 * - The labels comm, thread, pid and tid become the thread; other labels are left out, and so are
 *   drop_frames and keep_frames.
 * - What contradicts itself is an error: ids and strings that are not there, differences of
 *   profiles (negative values).
 */
#ifndef PROF_FORMAT_PPROF_READ_H
#define PROF_FORMAT_PPROF_READ_H

#include "format/format.h"

/* The comment that stands for profile_info.is_run. */
#define PPROF_RUN "recorded: a command, from its start to its end"

bool pprof_recognize(const unsigned char *first, size_t len);
MUST_CHECK struct error *pprof_read(FILE *in, struct profile *profile);

#endif
