#include "dwarf/chain.h"

#include "base/alloc.h"
#include "base/search.h"
#include "dwarf/parts.h"
#include "dwarf/ranges.h"
#include "dwarf/scan.h"

#include <dwarf.h>
#include <stdlib.h>

/*
 * Limits for malformed files: deeper than any compiler inlines, and more scopes
 * than cover any address.
 */
enum { MAX_LEVEL = 500, MAX_CLAIMS = 5000 };

struct scope_finder {
	const struct dwarf_view *view;
	const uint64_t *vaddrs;
	size_t count;
	uint32_t *innermost;
	struct dwarf_scopes *scopes;
	struct dwarf_range_index *making; /* filled by the scan; NULL if not needed */
	uint32_t open;			  /* innermost scope around the current entry */
	uint64_t budget;		  /* remaining range list entries */
	uint64_t claims_left;		  /* for all addresses together */
};

/*
 * Reads the addresses that an entry covers. Most entries cover none of the
 * requested ones; their remaining attributes are skipped.
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

static void chain_read_call(const struct dwarf_view *view, struct dwarf_scope *scope)
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
			chain_read_call(view, scope);
	}
}

/*
 * Closes scopes of this depth and deeper ones. A scope without any of the
 * addresses is removed. It is always the last item, because scopes opened after
 * it are closed before it.
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
 * Returns true if the scope is inside of the address's previous scope. A
 * function replaces any previous one; an inlined call only scopes of the same
 * physical function.
 */
static bool chain_is_inner(const struct scope_finder *finder, const struct dwarf_scope *scope,
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
 * Assigns the scope to the addresses of this range. An inlined call can only
 * get addresses of its physical function, so no others are checked. Only
 * functions are added to the range index, because inlined calls are inside of
 * them.
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
		if (!chain_is_inner(finder, scope, finder->innermost[i]))
			continue;
		finder->innermost[i] = index;
		if (scope->level == 0 && (!scope->is_used || i < scope->first))
			scope->first = (uint32_t)i;
		if (scope->level == 0 && i >= scope->end)
			scope->end = (uint32_t)i + 1;
		scope->is_used = true;
	}
}

/* Marks the scope as used if it covers one of the addresses. */
static void chain_claim(struct scope_finder *finder, struct dwarf_scope *scope, uint32_t index)
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

static void chain_enter(struct scope_finder *finder, const struct dwarf_die *die)
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
		chain_claim(finder, &scope, index);
	/*
	 * A scope that covers none of the addresses still matters inside of one
	 * that does. Calls inlined into a nested function are not inlined into
	 * the outer one, and compilers let inlined calls extend beyond the
	 * inlined call that contains them.
	 */
	if (scope.is_used || finder->open != DWARF_NO_SCOPE)
		open_scope(finder, &scope);
}

/*
 * The results of a part: the entries from its first function up to that of a
 * later part.
 */
struct scope_part {
	struct dwarf_scopes scopes;
	uint32_t *innermost;
};

struct dwarf_scope_search {
	const struct dwarf_view *view;
	struct dwarf_range_index *index;
	const uint64_t *vaddrs;
	size_t count;
	struct dwarf_parts parts;
	uint64_t settled; /* number of bytes after which a guess is right */
	struct scope_part found[DWARF_PARTS_MAX];
};

enum { GUESSED_BYTES = 1 << 14, GUESSES_MAX = 4, GUESS_BYTES_MAX = 1 << 18 };

/*
 * Guesses the start of the next function after this offset. Entries have no
 * markers. But a scan that starts in the middle of an entry reaches the start
 * of another one within a few dozen entries, and is right from then on.
 */
static uint64_t guess_function(const void *user, uint64_t offset)
{
	const struct dwarf_scope_search *search = user;

	for (unsigned i = 0; i < GUESSES_MAX; i++) {
		struct dwarf_scan scan;
		struct dwarf_die die;

		dwarf_scan_init(&scan, search->view, DWARF_FUNCTION);
		dwarf_scan_seek(&scan, offset + i);
		if (bytes_left(&scan.at) > GUESS_BYTES_MAX)
			scan.at.end = scan.at.at + GUESS_BYTES_MAX;
		while (dwarf_scan_next(&scan, &die))
			if (die.offset >= offset + search->settled)
				return die.offset;
	}
	return UINT64_MAX;
}

/* The first part starts at the start of the unit. */
static void chain_divide(struct dwarf_scope_search *search, uint64_t part_bytes)
{
	const struct dwarf_unit *unit = search->view->unit;

	search->settled = part_bytes / 4 < GUESSED_BYTES ? part_bytes / 4 : GUESSED_BYTES;
	if (search->index && search->index->are_made)
		part_bytes = UINT64_MAX;
	dwarf_parts_divide(&search->parts, unit->first_die, unit->end - unit->first_die, part_bytes,
			   DWARF_PARTS_MAX, guess_function, search);
}

struct dwarf_scope_search *dwarf_scope_search_new(const struct dwarf_view *view,
						  struct dwarf_range_index *index,
						  const uint64_t *vaddrs, size_t count,
						  uint64_t part_bytes)
{
	struct dwarf_scope_search *search = xcalloc(1, sizeof(*search));

	*search = (struct dwarf_scope_search){
		.view = view, .index = index, .vaddrs = vaddrs, .count = count};
	chain_divide(search, part_bytes);
	return search;
}

size_t dwarf_scope_search_parts(const struct dwarf_scope_search *search)
{
	return search->parts.count;
}

/*
 * Scans from the current position to the end of the unit, to a function that
 * starts part `next` or a later part, or to the end of one function (of_one).
 * Returns the offset where it stopped.
 */
static uint64_t scan_scopes(struct scope_finder *finder, const struct dwarf_scope_search *search,
			    struct dwarf_scan *scan, size_t next, bool of_one)
{
	struct dwarf_die die;
	bool is_first = true;

	scan->wanted = DWARF_FUNCTION;
	while (dwarf_scan_next(scan, &die)) {
		close_scopes(finder, scan->ended_depth);
		if (finder->open == DWARF_NO_SCOPE &&
		    ((of_one && !is_first) || dwarf_parts_begin(&search->parts, &next, die.offset)))
			return die.offset;
		is_first = false;
		if (die.abbrev->roles & DWARF_FUNCTION || finder->open != DWARF_NO_SCOPE)
			chain_enter(finder, &die);
		scan->wanted = DWARF_FUNCTION;
		if (finder->open != DWARF_NO_SCOPE)
			scan->wanted |= DWARF_INLINED;
	}
	close_scopes(finder, 0);
	return UINT64_MAX;
}

static void scan_indexed(struct scope_finder *finder, const struct dwarf_scope_search *search,
			 struct dwarf_scan *scan)
{
	const struct dwarf_range_entry *part;
	uint64_t done = 0;
	size_t next = 0;

	while ((part = dwarf_range_index_next(search->index, &next, done, finder->vaddrs,
					      finder->count))) {
		dwarf_scan_seek(scan, part->offset);
		done = scan_scopes(finder, search, scan, search->parts.count, true);
	}
}

void dwarf_scope_search_run(struct dwarf_scope_search *search, size_t number)
{
	struct dwarf_part *part = &search->parts.items[number];
	struct scope_part *found = &search->found[number];
	struct scope_finder finder = {
		.view = search->view,
		.vaddrs = search->vaddrs,
		.count = search->count,
		.innermost = found->innermost = xcalloc(search->count, sizeof(*found->innermost)),
		.scopes = &found->scopes,
		.making = search->index && !search->index->are_made ? &part->making : NULL,
		.open = DWARF_NO_SCOPE,
		.budget = dwarf_ranges_budget(search->view->file),
		.claims_left = (uint64_t)search->count * MAX_CLAIMS,
	};
	struct dwarf_scan scan;

	part->end = UINT64_MAX;
	for (size_t i = 0; i < search->count; i++)
		found->innermost[i] = DWARF_NO_SCOPE;
	dwarf_scan_init(&scan, search->view, DWARF_FUNCTION);
	if (number)
		dwarf_scan_seek(&scan, part->first);
	if (search->index && search->index->are_made)
		scan_indexed(&finder, search, &scan);
	else
		part->end = scan_scopes(&finder, search, &scan, number + 1, false);
	found->scopes.are_damaged = scan.is_damaged;
}

/*
 * Adds the functions of a part. They replace those of earlier parts, as in a
 * single scan.
 */
static void chain_take_part(const struct dwarf_scope_search *search, const struct scope_part *part,
			    struct dwarf_scopes *scopes, uint32_t *innermost)
{
	const uint32_t before = (uint32_t)scopes->count;

	for (size_t i = 0; i < part->scopes.count; i++) {
		struct dwarf_scope scope = part->scopes.items[i];

		scope.physical += before;
		if (scope.parent != DWARF_NO_SCOPE)
			scope.parent += before;
		GROW(scopes->items, scopes->count, scopes->room);
		scopes->items[scopes->count++] = scope;
	}
	for (size_t i = 0; i < search->count; i++)
		if (part->innermost[i] != DWARF_NO_SCOPE)
			innermost[i] = before + part->innermost[i];
	scopes->are_damaged |= part->scopes.are_damaged;
}

void dwarf_scope_search_finish(struct dwarf_scope_search *search, struct dwarf_scopes *scopes,
			       uint32_t *innermost)
{
	struct dwarf_range_index *index = search->index;
	uint64_t end = search->parts.items[0].first;

	for (size_t i = 0; i < search->count; i++)
		innermost[i] = DWARF_NO_SCOPE;
	for (size_t i = 0; i < search->parts.count; i++) {
		if (dwarf_parts_join(&search->parts.items[i], &end, index))
			chain_take_part(search, &search->found[i], scopes, innermost);
		dwarf_scopes_deinit(&search->found[i].scopes);
		free(search->found[i].innermost);
	}
	if (index) {
		index->are_damaged |= scopes->are_damaged;
		index->are_made = true;
		scopes->are_damaged = index->are_damaged;
	}
	read_used(scopes, search->view);
	free(search);
}

void dwarf_scopes_deinit(struct dwarf_scopes *scopes)
{
	free(scopes->items);
}
