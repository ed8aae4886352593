/*
 * zstd's one door: the records in a compressed recording, which are one stream cut into pieces.
 *
 * It is inflated only as far as the next record needs: memory is bounded by zstd's own window (8
 * MB, at perf's highest levels 128 MB), whatever the stream claims.
 */
#ifndef PROF_PERF_INFLATER_H
#define PROF_PERF_INFLATER_H

#include "base/bytes.h"
#include "base/error.h"

struct inflater;

/* Fails where prof was built without zstd. */
MUST_CHECK struct error *inflater_new(struct inflater **ret);
void inflater_free(struct inflater *inflater);
DEFINE_CLEANUP(inflater, inflater_free)

/* The next piece of the stream; borrowed until all of it has been looked at. */
void inflater_feed(struct inflater *inflater, struct bytes piece);
/* The next len bytes, not skipped, in *ret; fewer: the piece ends there, or is damaged. Borrowed
 * until the next call. len is at most 64 KiB. */
MUST_CHECK struct error *inflater_look(struct inflater *inflater, size_t len, struct bytes *ret);
/* Of what was looked at. */
void inflater_skip(struct inflater *inflater, size_t len);

#endif
