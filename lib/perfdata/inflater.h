/*
 * Decompresses the records of perf record -z, which are one zstd stream in
 * pieces.
 *
 * Only as much is decompressed as the next record needs, so zstd's window
 * bounds the memory: 8 MB, or 128 MB at perf's highest levels.
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

/* Adds a piece of the stream. It is borrowed until all of it was skipped. */
void inflater_feed(struct inflater *inflater, struct bytes piece);
/*
 * Returns the next len bytes, at most 64 KiB, without skipping them; fewer if
 * the piece ends there or is damaged. They are borrowed until the next call.
 * Fails as well if the stream expands to an implausible size.
 */
MUST_CHECK struct error *inflater_look(struct inflater *inflater, size_t len, struct bytes *ret);
/* Skips bytes that inflater_look() has returned. */
void inflater_skip(struct inflater *inflater, size_t len);

#endif
