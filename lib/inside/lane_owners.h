/*
 * Frees lanes whose owner has died in the middle of a record: a thread that was killed, or that
 * another one's execve() has ended.
 */
#ifndef PROF_INSIDE_LANE_OWNERS_H
#define PROF_INSIDE_LANE_OWNERS_H

#include "inside/lane.h"
#include "inside/population.h"

struct lane_owner {
	uint32_t tid;
	uint64_t head;	   /* of its lane … */
	uint64_t since_ns; /* … has stood there since then */
};

struct lane_owners {
	struct lane_owner items[INSIDE_LANES];
};

/* To be called about once per second: an owner that has written nothing since the last call, and is
 * no more, loses its lane. */
void lane_owners_look(struct lane_owners *owners, struct lane lanes[INSIDE_LANES],
		      struct population *population, uint64_t now_ns);

#endif
