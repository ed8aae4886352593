/*
 * The stacks of pprof samples.
 *
 * Consecutive samples usually share most callers, and the root comes last in a
 * sample's list of locations. The end that a list has in common with the
 * previous list is not decoded again; only the rest is looked up in the
 * profile. If samples are in random order, as in files of other producers, each
 * frame is a cache miss. The reader then looks up the stacks of several samples
 * in parallel.
 */
#ifndef PROF_FORMAT_PPROF_STACKS_H
#define PROF_FORMAT_PPROF_STACKS_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/pprof/batches.h"
#include "format/pprof/id_table.h"
#include "profile/profile.h"

/* A stack that was looked up before its sample was read. */
struct pprof_stack_ahead {
	const unsigned char *at; /* its locations */
	stack_id stack;
};

struct pprof_stacks {
	struct profile *profile;
	const struct id_table *frames; /* by location */
	unsigned char *list;	       /* the locations of the previous sample */
	size_t list_len, list_room;
	stack_id *path; /* the stacks of the previous sample, from the root, by depth */
	size_t depth, path_room;
	frame_id *fresh; /* frames not shared with the previous sample, leaf first */
	size_t fresh_count, fresh_room;
	/* Total lengths since the start of the last parallel lookup. */
	size_t list_bytes, fresh_bytes;
	uint64_t cut_count; /* stacks deeper than PPROF_DEPTH_MAX */
	struct pprof_stack_ahead ahead[PPROF_BATCH];
	size_t ahead_count, ahead_at; /* those from ahead_at on are not used yet */
};

/* Both are borrowed. */
void pprof_stacks_init(struct pprof_stacks *stacks, struct profile *profile,
		       const struct id_table *frames);
void pprof_stacks_deinit(struct pprof_stacks *stacks);

/*
 * locations: complete packed numbers, leaf first. If there are more than
 * PPROF_DEPTH_MAX, the first ones are kept, called by [truncated]. Fails if a
 * location does not exist.
 */
MUST_CHECK struct error *pprof_stacks_find(struct pprof_stacks *stacks, struct bytes locations,
					   stack_id *ret);

/*
 * Returns whether recent lists had little in common, so that a parallel lookup
 * is faster.
 */
bool pprof_stacks_are_scattered(const struct pprof_stacks *stacks);
/*
 * Looks up stacks of the next samples in parallel. pprof_stacks_find() looks up
 * the others.
 */
void pprof_stacks_look_ahead(struct pprof_stacks *stacks, const struct pprof_batch *batch);

#endif
