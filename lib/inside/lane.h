/*
 * The reading end of one lane (layout.h): its records one after the other, each copied out of the
 * shared memory before it is looked at. Whatever the memory holds, the result is a record of
 * bounded size or an end; a lane that makes no sense is emptied.
 */
#ifndef PROF_INSIDE_LANE_H
#define PROF_INSIDE_LANE_H

#include "base/bytes.h"
#include "inside/layout.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A record's header, and what follows it. */
struct lane_record {
	enum inside_type type;
	uint16_t flags;
	uint64_t time_ns;
	pid_t pid, tid;
	struct bytes body; /* borrowed until the record is dropped */
};

struct lane {
	struct inside_lane *shared;
	const unsigned char *ring; /* INSIDE_LANE_BYTES, shared */
	unsigned char *copy;	   /* of the record */
	struct lane_record record;
	bool has_record;
	uint64_t head, tail; /* head: as it was noted last */
	uint64_t damaged;    /* how often it was emptied */
};

/* mapped: the file's bytes, borrowed. What is in the lane already is of an earlier reader: it is
 * dropped. */
void lane_init(struct lane *lane, unsigned char *mapped, unsigned index);
void lane_deinit(struct lane *lane);
/* Notes what has been written so far. Returns its bytes. */
uint64_t lane_note_head(struct lane *lane);
/*
 * The next record before the noted head, or NULL. It stays the next one until it is dropped.
 * now_ns: when the head was noted, or later. A record's time is never later.
 */
const struct lane_record *lane_peek(struct lane *lane, uint64_t now_ns);
/* Of a record that makes no sense, and what is after it. */
void lane_empty(struct lane *lane);
void lane_drop(struct lane *lane);

#endif
