#include "dwarf/chain.h"

#include "base/alloc.h"
#include "base/search.h"
#include "dwarf/ranges.h"
#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>

/*
 * Limits for malformed files: deeper than any compiler inlines, and more scopes than cover any
 * address.
 */
enum { MAX_LEVEL = 500, MAX_CLAIMS = 5000 };

struct scope_finder {
	const struct dwarf_view *view;
	const uint64_t *vaddrs;
	size_t count;
	uint32_t *innermost;
	struct dwarf_scopes *scopes;
	struct dwarf_range_index *making; /* filled while scanning; NULL: not wanted */
	uint32_t open;			  /* the innermost scope around the current entry */
	uint64_t budget;		  /* of range list entries */
	uint64_t claims_left;		  /* for all addresses together */
};

/*
 * Reads the addresses that an entry covers. Most entries cover none that is looked for; their
 * remaining attributes are skipped.
 */
static struct dwarf_pcs read_pcs(const struct dwarf_view *view, const struct dwarf_die *die)
{
	struct dwarf_attrs attrs = dwarf_attrs_of(view, die);
	struct dwarf_value value = {0};
	struct dwarf_pcs pcs = {0};

	while (!pcs.ranges.form && !(pcs.low.form && pcs.high.form) &&
	       dwarf_attrs_next(&attrs, &value))
		dwarf_pcs_take(&pcs, &value);
	return pcs;
}

static void read_call(const struct dwarf_view *view, struct dwarf_scope *scope)
{
	struct dwarf_attrs attrs = dwarf_attrs_of(view, &scope->die);
	struct dwarf_value value = {0};

	while (dwarf_attrs_next(&attrs, &value)) {
		switch (value.name) {
		case DW_AT_abstract_origin:
			scope->function = dwarf_reference(view, &value);
			break;
		case DW_AT_call_file:
			scope->has_call_file = true;
			scope->call_file = value.number;
			break;
		case DW_AT_call_line:
			scope->call_line = (uint32_t)value.number;
			break;
		default:
			break;
		}
	}
}

static void read_used(struct dwarf_scopes *scopes, const struct dwarf_view *view)
{
	for (size_t i = 0; i < scopes->count; i++) {
		struct dwarf_scope *scope = &scopes->items[i];

		if (scope->die.abbrev->roles & DWARF_FUNCTION)
			scope->function = (struct dwarf_reference){view->file, scope->die.offset};
		else if (scope->is_used)
			read_call(view, scope);
	}
}

/*
 * Closes scopes of this depth and deeper ones. A scope without any of the addresses is removed; it
 * is always the last item, because scopes opened after it are closed before it.
 */
static void close_scopes(struct scope_finder *finder, uint32_t depth)
{
	struct dwarf_scopes *scopes = finder->scopes;

	while (finder->open != DWARF_NO_SCOPE && scopes->items[finder->open].die.depth >= depth) {
		const struct dwarf_scope *scope = &scopes->items[finder->open];

		if (!scope->is_used)
			scopes->count = finder->open;
		else if (scope->parent != DWARF_NO_SCOPE)
			scopes->items[scope->parent].is_used = true;
		finder->open = scope->parent;
	}
}

static void open_scope(struct scope_finder *finder, const struct dwarf_scope *scope)
{
	struct dwarf_scopes *scopes = finder->scopes;

	GROW(scopes->items, scopes->count, scopes->room);
	finder->open = (uint32_t)scopes->count;
	scopes->items[scopes->count++] = *scope;
}

/*
 * Whether the scope is inside of the address's previous scope. A function replaces any previous
 * one; an inlined call only scopes of the same physical function.
 */
static bool is_inner(const struct scope_finder *finder, const struct dwarf_scope *scope,
		     uint32_t before)
{
	const struct dwarf_scope *other;

	if (scope->level == 0)
		return true;
	if (before == DWARF_NO_SCOPE)
		return false;
	other = &finder->scopes->items[before];
	return other->physical == scope->physical && other->level < scope->level;
}

/*
 * Assigns the scope to the addresses of this range. An inlined call gets only addresses of its
 * physical function, so no others are looked at. Only functions are added to the range index:
 * inlined calls are inside of them.
 */
static void claim_range(struct scope_finder *finder, struct dwarf_scope *scope, uint32_t index,
			uint64_t low, uint64_t high)
{
	const uint64_t *vaddrs = finder->vaddrs;
	const size_t first = scope->level ? scope->first : 0;
	const size_t end = scope->level ? scope->end : finder->count;

	if (finder->making && scope->level == 0)
		dwarf_range_index_add(finder->making, low, high, scope->die.offset);
	if (first == end || high <= vaddrs[first] || low > vaddrs[end - 1])
		return;
	for (size_t i = first + search_first(&vaddrs[first], end - first, low);
	     i < end && vaddrs[i] < high && finder->claims_left; i++) {
		finder->claims_left--;
		if (!is_inner(finder, scope, finder->innermost[i]))
			continue;
		finder->innermost[i] = index;
		if (scope->level == 0 && (!scope->is_used || i < scope->first))
			scope->first = (uint32_t)i;
		if (scope->level == 0 && i >= scope->end)
			scope->end = (uint32_t)i + 1;
		scope->is_used = true;
	}
}

/* The scope is used if it covers one of the addresses. */
static void claim(struct scope_finder *finder, struct dwarf_scope *scope, uint32_t index)
{
	struct dwarf_ranges ranges;
	struct dwarf_pcs pcs;
	uint64_t low, high;

	if (dwarf_abbrev_pcs(scope->die.abbrev, scope->die.attributes, &low, &high)) {
		if (low < high && !dwarf_is_tombstone(low))
			claim_range(finder, scope, index, low, high);
		return;
	}
	pcs = read_pcs(finder->view, &scope->die);
	ranges = dwarf_ranges_of(finder->view, &pcs);
	while (dwarf_ranges_next(&ranges, &finder->budget, &low, &high))
		claim_range(finder, scope, index, low, high);
}

static void enter(struct scope_finder *finder, const struct dwarf_die *die)
{
	const bool is_function = die->abbrev->roles & DWARF_FUNCTION;
	const uint32_t index = (uint32_t)finder->scopes->count;
	struct dwarf_scope scope = {.die = *die, .parent = finder->open, .physical = index};

	if (!is_function) {
		const struct dwarf_scope *around = &finder->scopes->items[finder->open];

		scope.physical = around->physical;
		scope.level = around->level + 1;
		scope.first = around->first;
		scope.end = around->end;
	}
	if (scope.level <= MAX_LEVEL)
		claim(finder, &scope, index);
	/*
	 * A scope that covers none of the addresses still matters inside of one that does: calls
	 * inlined into a nested function are not inlined into the outer one, and compilers let
	 * inlined calls reach beyond the inlined call that contains them.
	 */
	if (scope.is_used || finder->open != DWARF_NO_SCOPE)
		open_scope(finder, &scope);
}

/*
 * Scans from the current position to the end of the unit, or of one function (of_one). Returns the
 * offset where it stopped.
 */
static uint64_t scan_scopes(struct scope_finder *finder, struct dwarf_scan *scan, bool of_one)
{
	struct dwarf_die die;
	bool is_first = true;

	scan->wanted = DWARF_FUNCTION;
	while (dwarf_scan_next(scan, &die)) {
		close_scopes(finder, scan->ended_depth);
		if (of_one && !is_first && finder->open == DWARF_NO_SCOPE)
			return die.offset;
		is_first = false;
		if (die.abbrev->roles & DWARF_FUNCTION || finder->open != DWARF_NO_SCOPE)
			enter(finder, &die);
		scan->wanted = DWARF_FUNCTION;
		if (finder->open != DWARF_NO_SCOPE)
			scan->wanted |= DWARF_INLINED;
	}
	close_scopes(finder, 0);
	return UINT64_MAX;
}

static void scan_parts(struct scope_finder *finder, struct dwarf_scan *scan,
		       const struct dwarf_range_index *parts)
{
	const struct dwarf_range_entry *part;
	uint64_t done = 0;
	size_t next = 0;

	while ((part = dwarf_range_index_next(parts, &next, done, finder->vaddrs, finder->count))) {
		dwarf_scan_seek(scan, part->offset);
		done = scan_scopes(finder, scan, true);
	}
}

void dwarf_scopes_find(struct dwarf_scopes *scopes, const struct dwarf_view *view,
		       struct dwarf_range_index *parts, const uint64_t *vaddrs, size_t count,
		       uint32_t *innermost)
{
	struct scope_finder finder = {
		.view = view,
		.vaddrs = vaddrs,
		.count = count,
		.innermost = innermost,
		.scopes = scopes,
		.making = parts && !parts->are_made ? parts : NULL,
		.open = DWARF_NO_SCOPE,
		.budget = dwarf_ranges_budget(view->file),
		.claims_left = (uint64_t)count * MAX_CLAIMS,
	};
	struct dwarf_scan scan;

	for (size_t i = 0; i < count; i++)
		innermost[i] = DWARF_NO_SCOPE;
	dwarf_scan_init(&scan, view, DWARF_FUNCTION);
	if (parts && parts->are_made)
		scan_parts(&finder, &scan, parts);
	else
		scan_scopes(&finder, &scan, false);
	if (parts)
		parts->are_made = true;
	if (parts)
		parts->are_damaged |= scan.is_damaged;
	scopes->are_damaged = scan.is_damaged || (parts && parts->are_damaged);
	read_used(scopes, view);
}

void dwarf_scopes_deinit(struct dwarf_scopes *scopes)
{
	free(scopes->items);
}
