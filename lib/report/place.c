#include "report/place.h"

#include "base/alloc.h"

static unsigned *find_ranks(const struct display_labels *labels, place_rank *rank_of)
{
	unsigned *ranks = xcalloc(labels->count, sizeof(*ranks));

	for (uint32_t i = 0; i < labels->count; i++)
		ranks[i] = rank_of(labels, i);
	return ranks;
}

/*
 * Returns the innermost line with the best rank in a frame, or its caller's
 * place if that is better.
 */
static struct place place_in(const struct display_labels *labels, const unsigned *ranks,
			     frame_id frame, struct place callers)
{
	struct place best = callers;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++) {
		unsigned rank = ranks[labels->lines[i].label];

		if (rank <= best.rank)
			best = (struct place){i, rank};
	}
	return best;
}

/* A parent's id is lower than its children's. */
struct place *places_find(const struct display_labels *labels, place_rank *rank_of, unsigned worst)
{
	const struct profile_stacks stacks = profile_stacks(labels->profile);
	CLEANUP(free_ptr) unsigned *ranks = find_ranks(labels, rank_of);
	struct place *places = xcalloc(stacks.count, sizeof(*places));

	places[STACK_EMPTY] = (struct place){NO_PLACE, worst};
	for (stack_id i = 1; i < stacks.count; i++)
		places[i] = place_in(labels, ranks, stacks.items[i].frame,
				     places[stacks.items[i].parent]);
	return places;
}
