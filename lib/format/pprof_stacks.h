/*
 * The stacks of pprof samples. Those that follow each other share most of their callers, and the
 * root comes last: what a sample's list of locations ends with as the list before is not even
 * decoded, and only the rest is looked for in the profile. Samples in no order, as of others than
 * prof, wait for memory at every frame; with several in sight they wait together.
 */
#ifndef PROF_FORMAT_PPROF_STACKS_H
#define PROF_FORMAT_PPROF_STACKS_H

#include "base/bytes.h"
#include "base/error.h"
#include "format/id_table.h"
#include "profile/profile.h"

/* So many samples are looked ahead. */
enum { PPROF_STACKS_AHEAD = 32 };

struct pprof_stacks {
	struct profile *profile;
	const struct id_table *frames; /* by location */
	unsigned char *list;	       /* the locations of the sample before … */
	size_t list_len, list_room;
	stack_id *path; /* … and its stacks: of so many frames, from the root */
	size_t depth, path_room;
	frame_id *fresh; /* those that it does not share with the one before, leaf first */
	size_t fresh_count, fresh_room;
	size_t list_bytes, fresh_bytes; /* of lists since the last look ahead */
	frame_id *ahead;
	size_t ahead_count, ahead_room;
};

/* Both are borrowed. */
void pprof_stacks_init(struct pprof_stacks *stacks, struct profile *profile,
		       const struct id_table *frames);
void pprof_stacks_deinit(struct pprof_stacks *stacks);

/* locations: packed numbers, leaf first, each of them whole. Fails where there is no such one. */
MUST_CHECK struct error *pprof_stacks_find(struct pprof_stacks *stacks, struct bytes locations,
					   stack_id *ret);

/* Whether those since the last look ahead had little in common, so that another one is of use. */
bool pprof_stacks_are_scattered(const struct pprof_stacks *stacks);
/* The lists that come next; PPROF_STACKS_AHEAD at most. */
void pprof_stacks_look_ahead(struct pprof_stacks *stacks, const struct bytes *lists, size_t count);

#endif
