#include "report/allocating_place.h"

#include "base/alloc.h"
#include "profile/code_origin.h"
#include "report/place.h"

/* The lower the rank, the more the function belongs to the program. */
enum allocating_place_rank {
	ALLOCATING_PROGRAM,
	ALLOCATING_RUNTIME,
	ALLOCATING_C_LIBRARY,
	ALLOCATING_KERNEL,
	ALLOCATING_NOTE
};

static unsigned allocating_place_rank_of(const struct display_labels *labels, uint32_t label)
{
	enum profile_module_kind kind = display_labels_kind(labels, label);
	const struct label *item = &labels->items[label];
	struct code_class class;

	if (kind == PROFILE_MODULE_SYNTHETIC)
		return ALLOCATING_NOTE;
	if (kind == PROFILE_MODULE_KERNEL)
		return ALLOCATING_KERNEL;
	class = code_class_of(display_module_name(labels->profile, item->module), item->name);
	if (class.origin == ORIGIN_C_LIBRARY)
		return ALLOCATING_C_LIBRARY;
	return class.origin == ORIGIN_PROGRAM && class.role == ROLE_PROGRAM ? ALLOCATING_PROGRAM
									    : ALLOCATING_RUNTIME;
}

uint32_t *allocating_places(const struct display_labels *labels)
{
	const uint32_t count = profile_stacks(labels->profile).count;
	CLEANUP(free_ptr)
	struct place *best = places_find(labels, allocating_place_rank_of, ALLOCATING_NOTE);
	uint32_t *places = xcalloc(count, sizeof(*places));

	for (stack_id i = 0; i < count; i++)
		places[i] = best[i].line;
	return places;
}
