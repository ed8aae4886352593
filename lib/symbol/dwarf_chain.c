#include "symbol/dwarf_chain.h"

#include "base/alloc.h"
#include "base/search.h"
#include "symbol/dwarf_ranges.h"
#include "symbol/dwarf_scan.h"

#include <dwarf.h>
#include <stdlib.h>

/* Deeper than any compiler inlines, and more scopes than cover any address: a liar must not fill
 * the memory, nor take for ever. */
enum { MAX_LEVEL = 500, MAX_CLAIMS = 5000 };

struct finder {
	const struct dwarf_view *view;
	const uint64_t *vaddrs;
	size_t count;
	uint32_t *innermost;
	struct dwarf_scopes *scopes;
	struct dwarf_parts *making; /* of what is read; NULL: none are made */
	uint32_t open;		    /* the innermost scope around the present entry */
	uint64_t budget;	    /* of range list entries */
	uint64_t claims_left;	    /* of all addresses together */
};

/* Most entries have no address of ours: what comes behind is of no interest then. */
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

/* Closes the scopes of that depth and deeper ones. What no address is in is forgotten: it
 * is always at the end, because what was opened after it is closed before it. */
static void close_scopes(struct finder *finder, uint32_t depth)
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

static void open_scope(struct finder *finder, const struct dwarf_scope *scope)
{
	struct dwarf_scopes *scopes = finder->scopes;

	GROW(scopes->items, scopes->count, scopes->room);
	finder->open = (uint32_t)scopes->count;
	scopes->items[scopes->count++] = *scope;
}

/* A function takes an address over from one before it; an inlined one only within the function that
 * it is in. */
static bool is_inner(const struct finder *finder, const struct dwarf_scope *scope, uint32_t before)
{
	const struct dwarf_scope *other;

	if (scope->level == 0)
		return true;
	if (before == DWARF_NO_SCOPE)
		return false;
	other = &finder->scopes->items[before];
	return other->physical == scope->physical && other->level < scope->level;
}

/* Notes the scope with the addresses that it covers; false: there is none. Only functions begin a
 * part: what is inlined is in one. */
static bool claim(struct finder *finder, const struct dwarf_scope *scope,
		  const struct dwarf_pcs *pcs, uint32_t index)
{
	struct dwarf_ranges ranges = dwarf_ranges_of(finder->view, pcs);
	uint64_t low, high;
	bool any = false;

	while (dwarf_ranges_next(&ranges, &finder->budget, &low, &high)) {
		size_t i = search_first(finder->vaddrs, finder->count, low);

		if (finder->making && scope->level == 0)
			dwarf_parts_add(finder->making, low, high, scope->die.offset);
		for (; i < finder->count && finder->vaddrs[i] < high && finder->claims_left; i++) {
			finder->claims_left--;
			if (!is_inner(finder, scope, finder->innermost[i]))
				continue;
			finder->innermost[i] = index;
			any = true;
		}
	}
	return any;
}

static void enter(struct finder *finder, const struct dwarf_die *die)
{
	const bool is_function = die->abbrev->roles & DWARF_FUNCTION;
	const uint32_t index = (uint32_t)finder->scopes->count;
	struct dwarf_scope scope = {.die = *die, .parent = finder->open, .physical = index};
	struct dwarf_pcs pcs = read_pcs(finder->view, die);

	if (!is_function) {
		scope.physical = finder->scopes->items[finder->open].physical;
		scope.level = finder->scopes->items[finder->open].level + 1;
	}
	if (scope.level <= MAX_LEVEL)
		scope.is_used = claim(finder, &scope, &pcs, index);
	/* A function without an address is of interest only where it lies in one that has: what is
	 * inlined into it is not inlined into that. An inlined one without may have one in it that
	 * compilers let reach beyond its caller. */
	if (scope.is_used || finder->open != DWARF_NO_SCOPE)
		open_scope(finder, &scope);
}

/* From where the scan is, to the end of the unit or of one function; where that is. */
static uint64_t scan_scopes(struct finder *finder, struct dwarf_scan *scan, bool of_one)
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

static void scan_parts(struct finder *finder, struct dwarf_scan *scan,
		       const struct dwarf_parts *parts)
{
	const struct dwarf_part *part;
	uint64_t done = 0;
	size_t next = 0;

	while ((part = dwarf_parts_next(parts, &next, done, finder->vaddrs, finder->count))) {
		dwarf_scan_seek(scan, part->offset);
		done = scan_scopes(finder, scan, true);
	}
}

void dwarf_scopes_find(struct dwarf_scopes *scopes, const struct dwarf_view *view,
		       struct dwarf_parts *parts, const uint64_t *vaddrs, size_t count,
		       uint32_t *innermost)
{
	struct finder finder = {
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
	read_used(scopes, view);
}

void dwarf_scopes_deinit(struct dwarf_scopes *scopes)
{
	free(scopes->items);
}
