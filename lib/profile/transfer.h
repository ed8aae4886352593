/*
 * Copies samples of one profile into another, with all that they refer to. What is equal becomes
 * one there: files by path and build-id, frames by their place in them, stacks by their frames.
 */
#ifndef PROF_PROFILE_TRANSFER_H
#define PROF_PROFILE_TRANSFER_H

#include "base/idmap.h"
#include "profile/profile.h"

struct transfer {
	const struct profile *from;
	struct profile *to;
	struct idmap *modules; /* of `to`, by what makes a module one */
	/* By the ids of `from`: those of `to`, or UINT32_MAX. */
	uint32_t *module_ids, *frames, *stacks, *threads, *functions, *events;
	stack_id *path; /* from a stack up to one that is copied already */
	uint32_t path_len, path_room;
};

/*
 * modules: which modules `to` has; a zeroed one for an empty profile, kept by the caller for the
 * next transfer into the same profile. All three are borrowed; `from` must not change until
 * transfer_deinit().
 */
void transfer_init(struct transfer *transfer, const struct profile *from, struct profile *to,
		   struct idmap *modules);
void transfer_deinit(struct transfer *transfer);

/* The event of `to`, made when it is not there yet. Samples make theirs. */
event_id transfer_event(struct transfer *transfer, event_id id);
/* Adds so many samples, and so much weight, to what the cell of `from` is in `to`; the cell's index
 * there. */
uint32_t transfer_add(struct transfer *transfer, const struct profile_cell *cell, uint64_t samples,
		      uint64_t weight);

#endif
