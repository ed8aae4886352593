#include "report/waiting_place.h"

#include "base/alloc.h"
#include "base/text.h"
#include "profile/code_origin.h"
#include "report/place.h"

/* The lower the rank, the more informative the function. */
enum waiting_rank waiting_rank_of(const struct display_labels *labels, uint32_t label)
{
	enum profile_module_kind kind = display_labels_kind(labels, label);
	const struct label *item = &labels->items[label];

	if (kind == PROFILE_MODULE_SYNTHETIC)
		return RANKS;
	if (kind == PROFILE_MODULE_KERNEL)
		return RANK_KERNEL;
	switch (code_origin_of(display_module_name(labels->profile, item->module), item->name)) {
	case ORIGIN_C_LIBRARY:
		return RANK_C_LIBRARY;
	case ORIGIN_RUNTIME:
		return RANK_RUNTIME;
	case ORIGIN_PROGRAM:
		break;
	}
	return kind == PROFILE_MODULE_JIT || kind == PROFILE_MODULE_INTERPRETED ? RANK_SCRIPT
										: RANK_NATIVE;
}

static bool is_reason(const struct profile *profile, frame_id frame)
{
	return profile_get_frame(profile, frame).module == PROFILE_SYNTHETIC;
}

/* Returns whether the frame is "[woken by NAME]" (record/wait_stacks.h). */
static bool waiting_place_is_waker(const struct profile *profile, frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);

	return frame.module == PROFILE_SYNTHETIC &&
	       text_begins(profile_string(profile, (string_id)frame.offset), "[woken by ");
}

static stack_id without_waker(const struct profile *profile, stack_id stack)
{
	const struct profile_stacks stacks = profile_stacks(profile);

	for (stack_id i = stack; i != STACK_EMPTY; i = stacks.items[i].parent)
		if (waiting_place_is_waker(profile, stacks.items[i].frame))
			return stacks.items[i].parent;
	return stack;
}

stack_id waiting_reason(const struct profile *profile, stack_id stack)
{
	stack = without_waker(profile, stack);
	if (stack == STACK_EMPTY || !is_reason(profile, profile_stacks(profile).items[stack].frame))
		return STACK_EMPTY;
	return stack;
}

static unsigned waiting_place_rank_of(const struct display_labels *labels, uint32_t label)
{
	return waiting_rank_of(labels, label);
}

/* A parent's id is lower than its children's. */
uint32_t *waiting_places(const struct display_labels *labels)
{
	const struct profile_stacks stacks = profile_stacks(labels->profile);
	CLEANUP(free_ptr) struct place *best = places_find(labels, waiting_place_rank_of, RANKS);
	CLEANUP(free_ptr) bool *is_of_waker = xcalloc(stacks.count, sizeof(*is_of_waker));
	uint32_t *places = xcalloc(stacks.count, sizeof(*places));

	places[STACK_EMPTY] = NO_PLACE;
	for (stack_id i = 1; i < stacks.count; i++) {
		struct profile_stack stack = stacks.items[i];

		places[i] = labels->first_line[stack.frame + 1] - 1;
		if (is_reason(labels->profile, stack.frame) && best[i].rank < RANKS)
			places[i] = best[i].line;
		is_of_waker[i] = stack.parent != STACK_EMPTY &&
				 (is_of_waker[stack.parent] ||
				  waiting_place_is_waker(labels->profile, stack.frame));
		if (is_of_waker[i])
			places[i] = places[stack.parent];
	}
	return places;
}
