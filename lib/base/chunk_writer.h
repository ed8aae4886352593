/*
 * An ordered parallel writer, as in pigz: cuts bytes into chunks, transforms several chunks at a
 * time on other threads, and writes the results in order. All chunks have the same size, so the
 * output does not depend on the number of threads. Output that fits into one chunk needs no
 * thread.
 */
#ifndef PROF_BASE_CHUNK_WRITER_H
#define PROF_BASE_CHUNK_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct chunk_writer;

/*
 * Transforms a chunk; `room` is one and a half times a chunk. Returns the size of the result; 0:
 * out of memory. Called on any thread.
 */
typedef size_t chunk_writer_work(const unsigned char *data, size_t len, unsigned char *made,
				 size_t room);

/*
 * out belongs to the chunk writer until the end, and its buffer must be empty. work may be NULL:
 * then chunks are written unchanged while the caller makes the next.
 */
struct chunk_writer *chunk_writer_new(FILE *out, chunk_writer_work *work);

/* False (errno) if a write failed, perhaps of earlier bytes. */
bool chunk_writer_put(struct chunk_writer *writer, const void *data, size_t len);

/* Waits until everything is written and frees the chunk writer. False as above. */
bool chunk_writer_finish(struct chunk_writer *writer);

#endif
