/*
 * Bytes on their way to a stream, on which other threads work: chunk by chunk, several at a time,
 * written in order. Chunks are of one size, so the same bytes in are the same bytes out, whatever
 * the number of threads; what fits into one chunk needs none.
 */
#ifndef PROF_BASE_RELAY_H
#define PROF_BASE_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct relay;

/* Makes of a chunk what is written in its place; room is half as much again as a chunk. Returns its
 * size; 0 is an error, of memory. Called on any thread. */
typedef size_t relay_work(const unsigned char *data, size_t len, unsigned char *made, size_t room);

/* out is the relay's alone until the end of it, and its buffer empty. work may be NULL: then chunks
 * are written as they are, while who puts them makes the next. */
struct relay *relay_new(FILE *out, relay_work *work);

/* False (errno) when something could not be written; that may be something put before. */
bool relay_put(struct relay *relay, const void *data, size_t len);

/* Returns when everything is written; frees the relay. False as above. */
bool relay_finish(struct relay *relay);

#endif
