/*
 * Decompresses the records of a recording made with perf record -z: one zstd stream in pieces.
 *
 * Only as much is decompressed as the next record needs, so memory is bounded by zstd's window: 8
 * MB, at perf's highest levels 128 MB.
 */
#ifndef PROF_PERFDATA_INFLATER_H
#define PROF_PERFDATA_INFLATER_H

#include "base/bytes.h"
#include "base/error.h"

struct inflater;

/* Fails if prof was built without zstd. */
MUST_CHECK struct error *inflater_new(struct inflater **ret);
void inflater_free(struct inflater *inflater);
DEFINE_CLEANUP(inflater, inflater_free)

/* Adds a piece of the stream, borrowed until all of it has been skipped. */
void inflater_feed(struct inflater *inflater, struct bytes piece);
/*
 * The next len bytes, at most 64 KiB, without skipping them; fewer if the piece ends there or is
 * damaged. Borrowed until the next call. Fails also where more is unpacked than any recording has
 * for its size.
 */
MUST_CHECK struct error *inflater_look(struct inflater *inflater, size_t len, struct bytes *ret);
/* Skips bytes that inflater_look() has shown. */
void inflater_skip(struct inflater *inflater, size_t len);

#endif
