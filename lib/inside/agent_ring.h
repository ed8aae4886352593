/*
 * Reads one of the ring buffers in the shared memory (layout.h), record by
 * record. Each record is copied out of the shared memory before it is parsed.
 * Whatever the memory contains, the result is a record of bounded size or the
 * end. If a ring contains an invalid record, the reader discards everything in
 * the ring.
 */
#ifndef PROF_INSIDE_RING_H
#define PROF_INSIDE_RING_H

#include "base/bytes.h"
#include "inside/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A record's header, and the bytes after it. */
struct agent_ring_record {
	enum inside_type type;
	uint16_t flags;
	uint64_t time_ns;
	pid_t pid, tid;
	struct bytes body; /* borrowed until agent_ring_drop() */
};

struct agent_ring {
	struct inside_ring *shared;
	const unsigned char *bytes; /* INSIDE_RING_BYTES of shared memory */
	unsigned char *copy;	    /* a private copy of the record */
	struct agent_ring_record record;
	bool has_record;
	uint64_t head, tail; /* `head` is the last value that agent_ring_note_head() read */
	uint64_t damaged;    /* how often the content was discarded */
};

/*
 * Borrows `mapped`, the content of the file. Discards records that are already
 * in the ring, because they were meant for an earlier reader.
 */
void agent_ring_init(struct agent_ring *ring, unsigned char *mapped, unsigned index);
void agent_ring_deinit(struct agent_ring *ring);
/*
 * Reads how far the ring has been written. Returns the number of bytes in it.
 */
uint64_t agent_ring_note_head(struct agent_ring *ring);
/*
 * Returns the next record before the noted head, or NULL. It stays the next
 * record until agent_ring_drop(). `now_ns` is a time at or after
 * agent_ring_note_head(). Later times of records are reduced to it.
 */
const struct agent_ring_record *agent_ring_peek(struct agent_ring *ring, uint64_t now_ns);
/* Discards an invalid record and everything after it. */
void agent_ring_empty(struct agent_ring *ring);
void agent_ring_drop(struct agent_ring *ring);

#endif
