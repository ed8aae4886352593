#include "report/allocating_place.h"

#include "base/alloc.h"
#include "profile/code_origin.h"

#define NO_LINE UINT32_MAX

/* The less, the more it is the program that allocates. */
enum rank { RANK_PROGRAM, RANK_RUNTIME, RANK_C_LIBRARY, RANK_KERNEL, RANK_NOTE };

static enum rank rank_of(const struct display_labels *labels, uint32_t label)
{
	enum profile_module_kind kind = display_labels_kind(labels, label);
	const struct label *item = &labels->items[label];
	struct code_class class;

	if (kind == PROFILE_MODULE_SYNTHETIC)
		return RANK_NOTE;
	if (kind == PROFILE_MODULE_KERNEL)
		return RANK_KERNEL;
	class = code_class_of(display_module_name(labels->profile, item->module), item->name);
	if (class.origin == ORIGIN_C_LIBRARY)
		return RANK_C_LIBRARY;
	return class.origin == ORIGIN_PROGRAM && class.role == ROLE_PROGRAM ? RANK_PROGRAM
									    : RANK_RUNTIME;
}

/* By label. */
static enum rank *find_ranks(const struct display_labels *labels)
{
	enum rank *ranks = xcalloc(labels->count, sizeof(*ranks));

	for (uint32_t i = 0; i < labels->count; i++)
		ranks[i] = rank_of(labels, i);
	return ranks;
}

/* The best line of a stack. */
struct place {
	uint32_t line;
	enum rank rank;
};

/* The innermost of the best lines of a frame, or its caller's place if that is better. */
static struct place place_in(const struct display_labels *labels, const enum rank *ranks,
			     frame_id frame, struct place callers)
{
	struct place best = callers;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++) {
		enum rank rank = ranks[labels->lines[i].label];

		if (rank <= best.rank)
			best = (struct place){i, rank};
	}
	return best;
}

/* A parent's id is below its children's. */
uint32_t *allocating_places(const struct display_labels *labels)
{
	const struct profile_stacks stacks = profile_stacks(labels->profile);
	CLEANUP(free_ptr) enum rank *ranks = find_ranks(labels);
	CLEANUP(free_ptr) struct place *best = xcalloc(stacks.count, sizeof(*best));
	uint32_t *places = xcalloc(stacks.count, sizeof(*places));

	best[STACK_EMPTY] = (struct place){NO_LINE, RANK_NOTE};
	places[STACK_EMPTY] = NO_LINE;
	for (stack_id i = 1; i < stacks.count; i++) {
		struct profile_stack stack = stacks.items[i];

		best[i] = place_in(labels, ranks, stack.frame, best[stack.parent]);
		places[i] = best[i].line;
	}
	return places;
}
