#include "report/allocating_place.h"

#include "base/alloc.h"
#include "profile/code_origin.h"
#include "report/place.h"

/* The less, the more it is the program that allocates. */
enum rank { RANK_PROGRAM, RANK_RUNTIME, RANK_C_LIBRARY, RANK_KERNEL, RANK_NOTE };

static unsigned rank_of(const struct display_labels *labels, uint32_t label)
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

uint32_t *allocating_places(const struct display_labels *labels)
{
	const uint32_t count = profile_stacks(labels->profile).count;
	CLEANUP(free_ptr) struct place *best = places_find(labels, rank_of, RANK_NOTE);
	uint32_t *places = xcalloc(count, sizeof(*places));

	for (stack_id i = 0; i < count; i++)
		places[i] = best[i].line;
	return places;
}
