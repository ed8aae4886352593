/*
 * An ordered parallel writer, like in pigz. It cuts bytes into chunks,
 * transforms several chunks at a time on other threads, and writes the results
 * in order. All chunks have the same size, so the output does not depend on the
 * number of threads. Output that fits into one chunk starts no thread.
 */
#ifndef PROF_BASE_CHUNK_WRITER_H
#define PROF_BASE_CHUNK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chunk_writer;

/*
 * Transforms a chunk. `room` is one and a half times the size of a chunk.
 * Returns the size of the result, or 0 if out of memory. It is called on any
 * thread.
 */
typedef size_t chunk_writer_work(const unsigned char *data, size_t len, unsigned char *made,
				 size_t room);

/*
 * The chunk writer owns out until it has finished. out's buffer must be empty.
 * If work is NULL, chunks are written unchanged while the caller produces the
 * next one.
 */
struct chunk_writer *chunk_writer_new(FILE *out, chunk_writer_work *work);

/* Returns false (errno) if a write failed, possibly of earlier bytes. */
bool chunk_writer_put(struct chunk_writer *writer, const void *data, size_t len);

/*
 * Waits until everything is written and frees the chunk writer. Returns false
 * (errno) if a write failed.
 */
bool chunk_writer_finish(struct chunk_writer *writer);

#endif
