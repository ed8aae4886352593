/*
 * The stacks of pprof samples.
 *
 * Consecutive samples usually share most callers, and the root comes last in a sample's list of
 * locations. The end that a list has in common with the previous list is not decoded again; only
 * the rest is looked up in the profile. If samples are in random order, as in other producers'
 * files, each frame is a cache miss; the reader then finds the stacks of several samples at once.
 */
#ifndef PROF_FORMAT_PPROF_STACKS_H
#define PROF_FORMAT_PPROF_STACKS_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/pprof/batches.h"
#include "format/pprof/id_table.h"
#include "profile/profile.h"

/* A stack that was found before its sample was read. */
struct pprof_stack_ahead {
	const unsigned char *at; /* its locations */
	stack_id stack;
};

struct pprof_stacks {
	struct profile *profile;
	const struct id_table *frames; /* by location */
	unsigned char *list;	       /* the locations of the previous sample … */
	size_t list_len, list_room;
	stack_id *path; /* … and its stacks, from the root, by depth */
	size_t depth, path_room;
	frame_id *fresh; /* frames not shared with the previous sample, leaf first */
	size_t fresh_count, fresh_room;
	size_t list_bytes, fresh_bytes; /* lengths since the last look ahead, included */
	uint64_t cut_count;		/* stacks deeper than PPROF_DEPTH_MAX */
	struct pprof_stack_ahead ahead[PPROF_BATCH];
	size_t ahead_count, ahead_at; /* from ahead_at on: not asked for yet */
};

/* Both are borrowed. */
void pprof_stacks_init(struct pprof_stacks *stacks, struct profile *profile,
		       const struct id_table *frames);
void pprof_stacks_deinit(struct pprof_stacks *stacks);

/*
 * locations: complete packed numbers, leaf first; of more than PPROF_DEPTH_MAX the first ones are
 * taken, called by [truncated]. Fails if a location does not exist.
 */
MUST_CHECK struct error *pprof_stacks_find(struct pprof_stacks *stacks, struct bytes locations,
					   stack_id *ret);

/* Whether recent lists had little in common, so that looking ahead pays. */
bool pprof_stacks_are_scattered(const struct pprof_stacks *stacks);
/* Finds the stacks of the next samples; the others are left to pprof_stacks_find(). */
void pprof_stacks_look_ahead(struct pprof_stacks *stacks, const struct pprof_batch *batch);

#endif
