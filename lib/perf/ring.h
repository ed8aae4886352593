/*
 * A ring buffer of records that the kernel writes and prof reads.
 *
 * ring_note_head() sets the end of a batch. ring_front() returns the first
 * unread record of it in place; only a record that wraps around the end of the
 * buffer is copied. ring_advance() releases the record's space to the kernel.
 *
 * Source: perf_event_open(2), "MMAP layout", which documents the barriers.
 */
#ifndef PROF_PERF_RING_H
#define PROF_PERF_RING_H

#include "base/bytes.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	/* Descriptor of the owner (attr_ring_owner()), to which events are
	 * redirected; -1 if closed. */
	int fd;
	struct perf_event_mmap_page *control;
	const unsigned char *data;
	uint64_t size_bytes; /* size of data; a power of two */
	/* First unread byte. Never wraps, like the kernel's positions. */
	uint64_t tail;
	uint64_t end;	      /* end of the batch */
	uint64_t front_bytes; /* size of the record that ring_front() returned */
	/* Copy of a record that wraps; NULL until the first one. */
	unsigned char *wrapped;
};

enum ring_front {
	RING_EMPTY,
	RING_RECORD,
	RING_DAMAGED, /* not a record; advancing skips the rest of the batch */
};

/*
 * data_bytes is a power of two of pages. The kernel wakes the reader every
 * watermark_bytes. The error's number is EPERM if the process may not lock that
 * much memory.
 */
MUST_CHECK struct error *ring_open(unsigned cpu, size_t data_bytes, uint32_t watermark_bytes,
				   struct ring *ret);
void ring_close(struct ring *ring);

/* Initializes a ring over existing memory: the control page, then data_bytes of
 * data. */
void ring_init(struct ring *ring, void *memory, size_t data_bytes);

void ring_note_head(struct ring *ring);
/* Returns the fill level in percent at the start of the batch. Call it before
 * any record is released. */
static inline unsigned ring_percent(const struct ring *ring)
{
	return (unsigned)((ring->end - ring->tail) * 100 / ring->size_bytes);
}
/* *raw is borrowed until ring_advance(). */
enum ring_front ring_front(struct ring *ring, struct bytes *raw);
void ring_advance(struct ring *ring);
/* Prefetches the start and the end of the next record. Assumes that it is as
 * long as the one before. */
void ring_prefetch(const struct ring *ring);
/* Goes to the next record without releasing space: records that were read
 * remain in place. */
void ring_skip(struct ring *ring);
/* Returns the position up to which space was released to the kernel. A second
 * reader, which does not release space itself, uses it to see how far the first
 * reader has released it. */
uint64_t ring_given_back(const struct ring *ring);

/* Returns the size of the control page. */
size_t ring_control_bytes(void);

#endif
