#include "symbol/libdw_scopes.h"

#include "base/alloc.h"
#include "base/search.h"

#include <dwarf.h>
#include <stdlib.h>

/* Limits for malformed files. They are the same as in dwarf/chain.c. */
enum { LEVEL_MAX = 500, CLAIMS_MAX = 5000 };

struct walk {
	struct libdw_scopes *scopes;
	struct libdw_budget budget;
	const uint64_t *vaddrs;
	size_t count;
	uint32_t *innermost;  /* by address */
	uint64_t claims_left; /* for all addresses together */
};

/*
 * Returns true if the scope replaces `before` for an address. A function
 * replaces any scope, an inlined call only scopes of the same physical
 * function.
 */
static bool libdw_scopes_is_inner(const struct walk *walk, const struct libdw_scope *scope,
				  uint32_t before)
{
	const struct libdw_scope *other;

	if (scope->level == 0)
		return true;
	if (before == LIBDW_NO_SCOPE)
		return false;
	other = &walk->scopes->items[before];
	return other->physical == scope->physical && other->level < scope->level;
}

/*
 * Assigns the addresses that the scope covers to it. `index` is its number.
 * Returns false if there are none.
 */
static bool libdw_scopes_claim(struct walk *walk, struct libdw_scope *scope, uint32_t index)
{
	struct libdw_ranges ranges = {.die = &scope->die};
	bool any = false;

	while (libdw_next_range(&ranges, &walk->budget)) {
		size_t i = search_first(walk->vaddrs, walk->count, ranges.low);

		for (; i < walk->count && walk->vaddrs[i] < ranges.high; i++) {
			if (!walk->claims_left)
				return any;
			walk->claims_left--;
			if (!libdw_scopes_is_inner(walk, scope, walk->innermost[i]))
				continue;
			walk->innermost[i] = index;
			any = true;
		}
	}
	return any;
}

/* Returns the innermost scope for the entry's children. */
static uint32_t libdw_scopes_enter(struct walk *walk, Dwarf_Die *die, int tag, uint32_t around)
{
	const uint32_t index = (uint32_t)walk->scopes->count;
	struct libdw_scope scope = {.die = *die, .parent = around, .physical = index};

	if (tag == DW_TAG_inlined_subroutine && around != LIBDW_NO_SCOPE) {
		scope.physical = walk->scopes->items[around].physical;
		scope.level = walk->scopes->items[around].level + 1;
	} else if (tag != DW_TAG_subprogram) {
		return around;
	}
	if (!libdw_has_code(die))
		return around;
	if (scope.level <= LEVEL_MAX)
		scope.is_used = libdw_scopes_claim(walk, &scope, index);
	if (!scope.is_used && around == LIBDW_NO_SCOPE)
		return around;
	GROW(walk->scopes->items, walk->scopes->count, walk->scopes->room);
	walk->scopes->items[walk->scopes->count++] = scope;
	return index;
}

/* Drops a scope that covers none of the addresses. */
static void libdw_scopes_leave(struct walk *walk, uint32_t index)
{
	const struct libdw_scope *scope = &walk->scopes->items[index];

	if (!scope->is_used)
		walk->scopes->count = index;
	else if (scope->parent != LIBDW_NO_SCOPE)
		walk->scopes->items[scope->parent].is_used = true;
}

static void find_scopes(struct walk *walk, Dwarf_Die *die, uint32_t around, unsigned depth)
{
	Dwarf_Die child;

	if (depth == LIBDW_DEPTH_MAX || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		uint32_t scope = libdw_scopes_enter(walk, &child, tag, around);

		if (!libdw_is_leaf(tag))
			find_scopes(walk, &child, scope, depth + 1);
		if (scope != around)
			libdw_scopes_leave(walk, scope);
	} while (libdw_next_sibling(&child, &walk->budget));
}

void libdw_scopes_find(struct libdw_scopes *scopes, Dwarf_Die *unit, struct libdw_budget budget,
		       const uint64_t *vaddrs, size_t count, uint32_t *innermost)
{
	struct walk walk = {
		.scopes = scopes,
		.budget = budget,
		.vaddrs = vaddrs,
		.count = count,
		.innermost = innermost,
		.claims_left = (uint64_t)count * CLAIMS_MAX,
	};

	for (size_t i = 0; i < count; i++)
		innermost[i] = LIBDW_NO_SCOPE;
	find_scopes(&walk, unit, LIBDW_NO_SCOPE, 0);
}

void libdw_scopes_deinit(struct libdw_scopes *scopes)
{
	free(scopes->items);
}
