/*
 * Turns: in which order samples of each thread were taken, to count how often a thread went over
 * from one task to another (tasks.h). The first million samples of a profile count; that is 8 MB at
 * most.
 */
#ifndef PROF_PROFILE_TURNS_H
#define PROF_PROFILE_TURNS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct turn {
	pid_t tid;
	uint32_t sample; /* index of the aggregated sample */
};

/* Zeroed: not kept. */
struct turns {
	bool are_kept;
	struct turn *items;
	uint32_t count, room;
};

void turns_deinit(struct turns *turns);

/* Ignored if they are not kept. */
void turns_add(struct turns *turns, pid_t tid, uint32_t sample);
/* The aggregated samples have other indexes: moved, by former index. */
void turns_move_samples(struct turns *turns, const uint32_t *moved);

#endif
