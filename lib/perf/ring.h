/*
 * A ring buffer of records: the kernel writes, we read.
 *
 * ring_note_head() sets the end of a batch. ring_front() shows the first unread record of it in
 * place; only a record that wraps around the end of the buffer is copied. ring_advance() gives the
 * record's room back to the kernel.
 * Source: perf_event_open(2), "MMAP layout", which also says which barriers are needed.
 */
#ifndef PROF_PERF_RING_H
#define PROF_PERF_RING_H

#include "base/bytes.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	int fd; /* of the owner (attr_ring_owner()); events are redirected to it. -1: closed */
	struct perf_event_mmap_page *control;
	const unsigned char *data;
	uint64_t size_bytes;	/* of data; a power of two */
	uint64_t tail;		/* first unread byte; never wraps, as the kernel's positions */
	uint64_t end;		/* of the batch */
	uint64_t kept;		/* see ring_keep() */
	uint64_t front_bytes;	/* size of what ring_front() has shown */
	unsigned char *wrapped; /* a copy of a record that wraps; NULL until there is one */
};

enum ring_front {
	RING_EMPTY,
	RING_RECORD,
	RING_DAMAGED, /* not a record: advancing skips the rest of the batch */
};

/*
 * data_bytes: a power of two of pages. The reader wakes after every watermark_bytes. The error's
 * number is EPERM if that much memory may not be locked.
 */
MUST_CHECK struct error *ring_open(unsigned cpu, size_t data_bytes, uint32_t watermark_bytes,
				   struct ring *ret);
void ring_close(struct ring *ring);

/* A ring over existing memory: the control page, then data_bytes of data. */
void ring_init(struct ring *ring, void *memory, size_t data_bytes);

void ring_note_head(struct ring *ring);
/* How full the batch found the ring, before anything of it was given back: percent. */
static inline unsigned ring_percent(const struct ring *ring)
{
	return (unsigned)((ring->end - ring->tail) * 100 / ring->size_bytes);
}
/* *raw is borrowed until ring_advance(). */
enum ring_front ring_front(struct ring *ring, struct bytes *raw);
void ring_advance(struct ring *ring);
/* Prefetches the start and the end of the next record; most are as long as the one before. */
void ring_prefetch(const struct ring *ring);
/* Goes to the next record without giving room back: records that were read stay where they are. */
void ring_skip(struct ring *ring);
/* Gives back the room of records that were read before the last call of … */
void ring_give_back_unkept(struct ring *ring);
/* … this. */
void ring_keep(struct ring *ring);
/* For a second reader of a ring, which skips: up to where the first one has given room back. */
uint64_t ring_given_back(const struct ring *ring);

/* The size of the control page. */
size_t ring_control_bytes(void);

#endif
