#include "proc/regions.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	/*
	 * Limits of what is kept for late samples after it ended: regions,
	 * tables, and the times of their ends. A lookup without a result reads
	 * all of them.
	 */
	PAST_MAX = 512,
	ENDED_MAX = 64,
	CLEARS_MAX = 512,
	/*
	 * The maximum number of regions that a mapping confirms. If it overlaps
	 * more, it replaces them.
	 */
	CONFIRMED_MAX = 64,
	/*
	 * The maximum number of regions replaced by one mapping that are kept
	 * for late samples.
	 */
	REPLACED_MAX = PAST_MAX / 2,
	/*
	 * A shared table with at least this many chunks gets a table above it
	 * when it changes. That table has at most ABOVE_MAX regions.
	 */
	BASE_PARTS_MIN = 16,
	ABOVE_MAX = 64,
	/*
	 * If a late mapping was replaced in more places than this, the rest of
	 * it is lost.
	 */
	LATE_PIECES_MAX = 256,
	/*
	 * The maximum number of reads of regions and chunks for late changes of
	 * one process: one or two milliseconds.
	 */
	LATE_WORK_MAX = 1 << 20,
};

/* --- Past regions ----------------------------------------------------------------------------- */

static void *resize(struct regions *regions, void *items, size_t *room, size_t new_room,
		    size_t item_bytes)
{
	regions->account->bytes += (new_room - *room) * item_bytes;
	*room = new_room;
	if (new_room)
		return xreallocarray(items, new_room, item_bytes);
	free(items);
	return NULL;
}

#define RESIZE(regions, items, room, new_room)                                                     \
	((regions)->items = resize(regions, (regions)->items, &(regions)->room, new_room,          \
				   sizeof(*(regions)->items)))

static int regions_compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Keeps the regions that ended last. */
static void halve_past(struct regions *regions)
{
	uint64_t times[PAST_MAX];
	size_t kept = 0, count = regions->past_count;

	for (size_t i = 0; i < count; i++)
		times[i] = regions->past[i].until_ns;
	qsort(times, count, sizeof(*times), regions_compare_times);
	for (size_t i = 0; i < count && kept < count / 2; i++)
		if (regions->past[i].until_ns >= times[count / 2])
			regions->past[kept++] = regions->past[i];
	regions->past_count = kept;
	regions->account->work += count;
}

static void add_past(struct regions *regions, const struct region *region, uint64_t until_ns)
{
	if (region->start >= region->end || region->from_ns >= until_ns)
		return;
	if (regions->past_count == PAST_MAX)
		halve_past(regions);
	if (regions->past_count == regions->past_room)
		RESIZE(regions, past, past_room, regions->past_room ? 2 * regions->past_room : 4);
	regions->past[regions->past_count++] = (struct ended_region){.region = *region,
								     .until_ns = until_ns};
	if (until_ns > regions->past_until_ns)
		regions->past_until_ns = until_ns;
}

static void release_ended(struct regions *regions, const struct ended_table *ended)
{
	region_table_release(ended->table, regions->account);
	region_table_release(ended->base, regions->account);
}

static void drop_first_ended(struct regions *regions, size_t count)
{
	for (size_t i = 0; i < count; i++)
		release_ended(regions, &regions->ended[i]);
	regions->ended_count -= count;
	if (regions->ended_count)
		memmove(regions->ended, regions->ended + count,
			regions->ended_count * sizeof(*regions->ended));
}

/* Ends all live regions. */
static void end_table(struct regions *regions, uint64_t until_ns)
{
	if (!regions->live && !regions->base)
		return;
	if (regions->ended_count == ENDED_MAX)
		drop_first_ended(regions, ENDED_MAX / 2);
	if (regions->ended_count == regions->ended_room)
		RESIZE(regions, ended, ended_room, 2 * regions->ended_room + 1);
	regions->ended[regions->ended_count++] =
		(struct ended_table){.table = regions->live,
				     .base = regions->base,
				     .since_ns = regions->live_since_ns,
				     .until_ns = until_ns};
	regions->live = regions->base = NULL;
	if (until_ns > regions->past_until_ns)
		regions->past_until_ns = until_ns;
}

static void add_clear(struct regions *regions, uint64_t time_ns)
{
	if (regions->clear_count == CLEARS_MAX) {
		qsort(regions->clears, CLEARS_MAX, sizeof(*regions->clears), regions_compare_times);
		regions->clear_count = CLEARS_MAX / 2;
		memcpy(regions->clears, regions->clears + CLEARS_MAX / 2,
		       CLEARS_MAX / 2 * sizeof(*regions->clears));
	}
	if (regions->clear_count == regions->clear_room)
		RESIZE(regions, clears, clear_room, 2 * regions->clear_room + 1);
	regions->clears[regions->clear_count++] = time_ns;
}

void regions_drop_past(struct regions *regions)
{
	drop_first_ended(regions, regions->ended_count);
	regions->past_count = regions->clear_count = 0;
	regions->past_until_ns = 0;
	RESIZE(regions, past, past_room, 0);
	RESIZE(regions, ended, ended_room, 0);
	RESIZE(regions, clears, clear_room, 0);
}

void regions_deinit(struct regions *regions)
{
	regions_drop_past(regions);
	region_table_release(regions->live, regions->account);
	region_table_release(regions->base, regions->account);
	regions->live = regions->base = NULL;
}

/* --- Lookup ----------------------------------------------------------------------------------- */

static uint64_t regions_later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/*
 * Returns a live region with the process's own start time, because it may be
 * shared since a fork.
 */
static struct region own_view(const struct region *live, uint64_t since_ns)
{
	struct region region = *live;

	region.from_ns = regions_later(region.from_ns, since_ns);
	region.confirmed_ns = regions_later(region.confirmed_ns, since_ns);
	return region;
}

static bool overlap(const struct region *a, const struct region *b)
{
	return a->start < b->end && b->start < a->end;
}

/*
 * Returns the region of a table at pc and time. *covers is set if the table has
 * any region at pc.
 */
static const struct region *regions_find_in(const struct region_table *table, uint64_t time_ns,
					    uint64_t pc, bool *covers)
{
	const struct region *region = region_table_before(table, pc);

	*covers = region && pc < region->end;
	return *covers && region->from_ns <= time_ns ? region : NULL;
}

/*
 * Ended tables are sorted by time. Everything in a table started after the
 * previous one had ended.
 */
static const struct region *find_past(const struct regions *regions, uint64_t time_ns, uint64_t pc)
{
	const struct ended_table *ended = NULL;
	const struct region *region;
	bool covers;

	for (size_t i = regions->ended_count; i-- > 0 && regions->ended[i].until_ns > time_ns;)
		ended = &regions->ended[i];
	if (ended && ended->since_ns <= time_ns) {
		region = regions_find_in(ended->table, time_ns, pc, &covers);
		if (!covers)
			region = regions_find_in(ended->base, time_ns, pc, &covers);
		if (region)
			return region;
	}
	for (size_t i = 0; i < regions->past_count; i++) {
		const struct ended_region *past = &regions->past[i];

		if (pc >= past->region.start && pc < past->region.end &&
		    past->region.from_ns <= time_ns && time_ns < past->until_ns)
			return &past->region;
	}
	return NULL;
}

static const struct region *regions_find_below(const struct regions *regions, bool covers,
					       uint64_t time_ns, uint64_t pc)
{
	const struct region *base = NULL;

	if (!covers && regions->live_since_ns <= time_ns)
		base = regions_find_in(regions->base, time_ns, pc, &covers);
	if (base)
		return base;
	return time_ns < regions->past_until_ns ? find_past(regions, time_ns, pc) : NULL;
}

const struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc)
{
	const struct region *live = region_table_before(regions->live, pc);
	bool covers = live && pc < live->end;

	if (covers && live->from_ns <= time_ns && regions->live_since_ns <= time_ns)
		return live;
	return regions_find_below(regions, covers, time_ns, pc);
}

const struct region *regions_before(const struct regions *regions, uint64_t address)
{
	const struct region *live = region_table_before(regions->live, address);
	const struct region *base = region_table_before(regions->base, address);

	return !live || (base && base->start > live->start) ? base : live;
}

static size_t count_of(const struct region_table *table)
{
	return table ? table->region_count : 0;
}

size_t regions_count(const struct regions *regions)
{
	return count_of(regions->live) + count_of(regions->base);
}

void regions_note_sample(const struct region *region, module_id module)
{
	struct region *found = (struct region *)(uintptr_t)region;

	found->module = module;
	found->has_samples = true;
}

void regions_refute_copy(const struct region *region, module_id memory)
{
	struct region *found = (struct region *)(uintptr_t)region;

	found->module = memory;
	found->offset = found->start;
	found->is_copy = found->is_certain = false;
}

/*
 * Returns the region of a table that contains the address, or the next one, or
 * NULL.
 */
static const struct region *next_in(const struct region_table *table, uint64_t address)
{
	struct region_place place = region_table_seek(table, address);

	return region_table_next(table, &place);
}

/*
 * If a region of the base was replaced, `live` has parts of it up to its end.
 */
bool regions_next(const struct regions *regions, uint64_t address, struct region *ret)
{
	const struct region *live = next_in(regions->live, address);
	const struct region *base = next_in(regions->base, address);
	uint64_t live_start = live ? regions_later(live->start, address) : UINT64_MAX;
	uint64_t base_start = base ? regions_later(base->start, address) : UINT64_MAX;

	if (!live && !base)
		return false;
	*ret = own_view(live_start <= base_start ? live : base, regions->live_since_ns);
	return true;
}

bool regions_empty(const struct regions *regions)
{
	return !regions->live && !regions->base && !regions->past_count && !regions->ended_count &&
	       !regions->clear_count;
}

/* --- Late changes ---------------------------------------------------------------------------- */

void regions_note_loss(struct regions *regions)
{
	regions->account->lost_changes++;
	regions->account->lost_processes += !regions->has_lost;
	regions->has_lost = true;
}

bool regions_spend(struct regions *regions, size_t work)
{
	if (regions->late_work + work > LATE_WORK_MAX) {
		regions->late_work = LATE_WORK_MAX;
		regions_note_loss(regions);
		return false;
	}
	regions->late_work += work;
	regions->account->work += work;
	return true;
}

static size_t part_count(const struct region_table *table)
{
	return table ? table->count : 0;
}

/*
 * Makes the regions of an ended table end one by one. Those beyond the limit
 * are forgotten.
 */
static void regions_expand(struct regions *regions, const struct ended_table *ended)
{
	struct region_place place = {.part = 0};
	const struct region *region;

	if (ended->base || ended->table->region_count > REPLACED_MAX ||
	    !regions_spend(regions, ended->table->region_count)) {
		regions_note_loss(regions);
		return;
	}
	while ((region = region_table_next(ended->table, &place))) {
		struct region own = own_view(region, ended->since_ns);

		add_past(regions, &own, ended->until_ns);
	}
}

static void expand_ended(struct regions *regions, uint64_t time_ns)
{
	while (regions->ended_count &&
	       regions->ended[regions->ended_count - 1].until_ns > time_ns) {
		struct ended_table ended = regions->ended[--regions->ended_count];

		regions_expand(regions, &ended);
		release_ended(regions, &ended);
	}
}

/*
 * Adds a live region. Parts of overlapped live regions outside of it stay live,
 * and the rest becomes past.
 */
static void place_live(struct regions *regions, const struct region *new)
{
	struct region_place place = region_table_seek(regions->live, new->start);
	const struct region *live;

	for (size_t i = 0; i < REPLACED_MAX; i++) {
		struct region replaced;

		live = region_table_next(regions->live, &place);
		if (!live || live->start >= new->end)
			break;
		replaced = own_view(live, regions->live_since_ns);
		replaced = region_piece(&replaced, new->start, new->end);
		add_past(regions, &replaced, new->from_ns);
		regions->account->work++;
	}
	region_table_put(&regions->live, regions->account, new);
}

/* Moves everything to `live`. */
static void unite_with_base(struct regions *regions)
{
	struct region_table *above = regions->live;
	struct region_place place = {.part = 0};
	const struct region *region;

	if (!regions->base)
		return;
	regions->live = regions->base;
	regions->base = NULL;
	while ((region = region_table_next(above, &place)))
		region_table_put(&regions->live, regions->account, region);
	region_table_release(above, regions->account);
}

/* Prepares for a change. Returns false if it is late and must be dropped. */
static bool regions_prepare(struct regions *regions, uint64_t time_ns)
{
	size_t work;

	if (time_ns >= regions->changed_ns)
		return true;
	work = part_count(regions->live) + part_count(regions->base) + regions->past_count +
	       regions->clear_count + 1;
	if (!regions_spend(regions, work))
		return false;
	unite_with_base(regions);
	expand_ended(regions, time_ns);
	return true;
}

/*
 * Returns when a region that starts at time_ns must end because of another one.
 */
static uint64_t end_because_of(uint64_t from_ns, uint64_t until_ns, uint64_t time_ns)
{
	return from_ns > time_ns ? from_ns : until_ns > time_ns ? until_ns : REGION_FOREVER;
}

/*
 * Finds a live region that ends `new` or a part of it. Returns false if there
 * is none or the budget is spent.
 */
static bool live_limit_of(struct regions *regions, const struct ended_region *new,
			  struct ended_region *ret)
{
	struct region_place place = region_table_seek(regions->live, new->region.start);
	const struct region *live;

	while ((live = region_table_next(regions->live, &place)) && live->start < new->region.end) {
		if (!regions_spend(regions, 1))
			return false;
		*ret = (struct ended_region){own_view(live, regions->live_since_ns),
					     REGION_FOREVER};
		if (end_because_of(ret->region.from_ns, REGION_FOREVER, new->region.from_ns) <
		    new->until_ns)
			return true;
	}
	return false;
}

static bool limit_of(struct regions *regions, const struct ended_region *new,
		     struct ended_region *ret)
{
	if (live_limit_of(regions, new, ret))
		return true;
	if (!regions_spend(regions, regions->past_count))
		return false;
	for (size_t i = 0; i < regions->past_count; i++) {
		const struct ended_region *past = &regions->past[i];

		*ret = *past;
		if (overlap(&past->region, &new->region) &&
		    end_because_of(past->region.from_ns, past->until_ns, new->region.from_ns) <
			    new->until_ns)
			return true;
	}
	return false;
}

/*
 * Returns in *before the part of a region until it was confirmed, which becomes
 * past.
 */
static bool ends_at_confirmation(struct region *region, uint64_t time_ns, struct region *before)
{
	*before = *region;
	before->confirmed_ns = before->from_ns;
	if (region->from_ns > time_ns || region->confirmed_ns <= time_ns)
		return false;
	region->from_ns = region->confirmed_ns;
	return true;
}

static void split_live(struct regions *regions, const struct region *live, uint64_t time_ns)
{
	struct region region = own_view(live, regions->live_since_ns), before;

	if (!ends_at_confirmation(&region, time_ns, &before))
		return;
	add_past(regions, &before, region.from_ns);
	region_table_set_times(&regions->live, regions->account, region.start, region.from_ns,
			       region.confirmed_ns);
}

/* A late change does not affect regions that were confirmed after it. */
static void split_at_confirmations(struct regions *regions, uint64_t time_ns)
{
	size_t past_count = regions->past_count;

	if (regions->changed_ns <= time_ns)
		return;
	for (size_t i = 0; i < past_count && i < regions->past_count; i++) {
		struct region *region = &regions->past[i].region;
		struct region before;

		if (ends_at_confirmation(region, time_ns, &before))
			add_past(regions, &before, region->from_ns);
	}
	for (size_t part = 0; part < part_count(regions->live); part++) {
		if (regions->live->parts[part].chunk->newest_ns <= time_ns)
			continue;
		if (!regions_spend(regions, regions->live->parts[part].chunk->count))
			return;
		for (size_t i = 0; i < regions->live->parts[part].chunk->count; i++)
			split_live(regions, &regions->live->parts[part].chunk->regions[i], time_ns);
	}
}

static uint64_t next_clear(const struct regions *regions, uint64_t time_ns)
{
	uint64_t next = REGION_FOREVER;

	for (size_t i = 0; i < regions->clear_count; i++)
		if (regions->clears[i] > time_ns && regions->clears[i] < next)
			next = regions->clears[i];
	return next;
}

/* Does place_live() for past regions, for late changes. */
static void place_past(struct regions *regions, const struct ended_region *new)
{
	const uint64_t from_ns = new->region.from_ns;
	size_t count = regions->past_count;

	if (!regions_spend(regions, count))
		return;
	for (size_t i = 0; i < count && i < regions->past_count; i++) {
		struct ended_region old = regions->past[i];
		struct region left = region_piece(&old.region, 0, new->region.start);
		struct region right = region_piece(&old.region, new->region.end, UINT64_MAX);

		if (!overlap(&old.region, &new->region) || old.region.from_ns > from_ns ||
		    old.until_ns <= from_ns)
			continue;
		regions->past[i] = (struct ended_region){
			region_piece(&old.region, new->region.start, new->region.end), from_ns};
		add_past(regions, &left, old.until_ns);
		add_past(regions, &right, old.until_ns);
	}
	add_past(regions, &new->region, new->until_ns);
}

/* Pieces of a late mapping that may have to be split further. */
struct pieces {
	struct ended_region *items;
	size_t count, room;
};

/* Adds the part of a region between start and end, if any. */
static void regions_add_piece(struct pieces *pieces, const struct region *region, uint64_t start,
			      uint64_t end, uint64_t until_ns)
{
	struct region piece = region_piece(region, start, end);

	if (piece.start >= piece.end)
		return;
	GROW(pieces->items, pieces->count, pieces->room);
	pieces->items[pieces->count++] = (struct ended_region){piece, until_ns};
}

/*
 * Splits a late region along those that limit it, until each piece has one
 * start time and one end time.
 */
static void place_late(struct regions *regions, const struct region *new)
{
	const uint64_t from_ns = new->from_ns;
	struct pieces todo = {.count = 0};
	struct ended_region limit;

	regions_add_piece(&todo, new, 0, UINT64_MAX, next_clear(regions, from_ns));
	for (unsigned i = 0; todo.count && i < LATE_PIECES_MAX; i++) {
		struct ended_region piece = todo.items[--todo.count];
		bool is_limited = limit_of(regions, &piece, &limit);

		if (regions->late_work == LATE_WORK_MAX)
			break;
		if (is_limited) {
			uint64_t start = limit.region.start, end = limit.region.end;

			regions_add_piece(&todo, &piece.region, 0, start, piece.until_ns);
			regions_add_piece(&todo, &piece.region, end, UINT64_MAX, piece.until_ns);
			regions_add_piece(
				&todo, &piece.region, start, end,
				end_because_of(limit.region.from_ns, limit.until_ns, from_ns));
		} else if (piece.until_ns == REGION_FOREVER) {
			place_live(regions, &piece.region);
		} else {
			place_past(regions, &piece);
		}
	}
	if (todo.count)
		regions_note_loss(regions);
	free(todo.items);
}

/* --- Changes --------------------------------------------------------------------------------- */

static bool continues(const struct region *live, uint64_t since_ns, const struct region *new)
{
	return live->module == new->module && live->is_copy == new->is_copy &&
	       live->offset - live->start ==
		       new->offset - new->start &&regions_later(live->from_ns, since_ns) <=
			       new->from_ns;
}

/*
 * Returns whether the region is already completely mapped, in few pieces. If
 * so, only notes the time, for earlier changes that arrive late.
 */
static bool confirm(struct regions *regions, const struct region *new)
{
	struct region_place place = region_table_seek(regions->live, new->start);
	struct region known[CONFIRMED_MAX];
	const struct region *live;
	uint64_t at = new->start;
	size_t count = 0;

	for (; at < new->end; at = live->end) {
		live = region_table_next(regions->live, &place);
		if (!live || live->start > at || count == CONFIRMED_MAX ||
		    !continues(live, regions->live_since_ns, new))
			return false;
		known[count++] = *live;
	}
	regions->account->work += count;
	for (size_t i = 0; i < count; i++)
		if (known[i].confirmed_ns < new->from_ns)
			region_table_set_times(&regions->live, regions->account, known[i].start,
					       known[i].from_ns, new->from_ns);
	return true;
}

static void put_if_any(struct regions *regions, const struct region *region)
{
	if (region->start < region->end)
		region_table_put(&regions->live, regions->account, region);
}

/*
 * Moves what a new mapping leaves of a base region to the table above. The rest
 * becomes past.
 */
static void lift(struct regions *regions, const struct region *base, const struct region *new)
{
	const struct region *above = region_table_before(regions->live, base->start);
	struct region own = own_view(base, regions->live_since_ns);
	struct region left = region_piece(base, 0, new->start);
	struct region right = region_piece(base, new->end, UINT64_MAX);

	if (above && above->end > base->start)
		return;
	own = region_piece(&own, new->start, new->end);
	add_past(regions, &own, new->from_ns);
	put_if_any(regions, &left);
	put_if_any(regions, &right);
}

/* If there are many, also lifts the last one, because some of it may stay. */
static void lift_all(struct regions *regions, const struct region *new)
{
	struct region_place place = region_table_seek(regions->base, new->start);
	const struct region *base;

	for (size_t i = 0; i < REPLACED_MAX; i++) {
		base = region_table_next(regions->base, &place);
		if (!base || base->start >= new->end)
			return;
		lift(regions, base, new);
		regions->account->work++;
	}
	base = region_table_before(regions->base, new->end - 1);
	if (base->end > new->end)
		lift(regions, base, new);
}

/* Adds a mapping that is not late. */
static void place_last(struct regions *regions, const struct region *new)
{
	struct region_table *live = regions->live;

	if (!regions->base && live && live->references > 1 && live->count > BASE_PARTS_MIN) {
		regions->base = live;
		regions->live = NULL;
	}
	if (regions->base && count_of(regions->live) >= ABOVE_MAX)
		unite_with_base(regions);
	if (regions->base)
		lift_all(regions, new);
	place_live(regions, new);
}

static void regions_note_change(struct regions *regions, uint64_t time_ns)
{
	regions->changed_ns = regions_later(regions->changed_ns, time_ns);
}

void regions_map(struct regions *regions, const struct region *new)
{
	struct region region = *new;
	bool is_late = new->from_ns < regions->changed_ns;

	if (new->start >= new->end || !regions_prepare(regions, new->from_ns))
		return;
	if (!confirm(regions, new)) {
		split_at_confirmations(regions, new->from_ns);
		region.confirmed_ns = new->from_ns;
		if (is_late)
			place_late(regions, &region);
		else
			place_last(regions, &region);
	}
	regions_note_change(regions, new->from_ns);
}

/* Moves the regions of a chunk that started after this time back to `live`. */
static void keep_later(struct regions *regions, const struct region_chunk *chunk, uint64_t time_ns)
{
	if (chunk->newest_ns <= time_ns || !regions_spend(regions, chunk->count))
		return;
	for (size_t i = 0; i < chunk->count; i++)
		if (chunk->regions[i].from_ns > time_ns)
			region_table_put(&regions->live, regions->account, &chunk->regions[i]);
}

/*
 * Regions that started later stay live. They are also in the ended table, where
 * no lookup finds them, because tables that ended later were expanded.
 */
static void end_live(struct regions *regions, uint64_t time_ns)
{
	const struct region_table *ended = regions->live;

	if (regions->live_since_ns > time_ns)
		return;
	end_table(regions, time_ns);
	for (size_t i = 0; ended && i < ended->count; i++)
		keep_later(regions, ended->parts[i].chunk, time_ns);
}

static void clear_late(struct regions *regions, uint64_t time_ns)
{
	split_at_confirmations(regions, time_ns);
	for (size_t i = 0; i < regions->past_count; i++)
		if (regions->past[i].region.from_ns <= time_ns &&
		    regions->past[i].until_ns > time_ns)
			regions->past[i].until_ns = time_ns;
	end_live(regions, time_ns);
}

void regions_clear(struct regions *regions, uint64_t time_ns)
{
	if (!regions_prepare(regions, time_ns))
		return;
	if (time_ns < regions->changed_ns) {
		clear_late(regions, time_ns);
	} else {
		end_table(regions, time_ns);
		regions->live_since_ns = time_ns;
	}
	add_clear(regions, time_ns);
	regions_note_change(regions, time_ns);
}

static void inherit_one(struct regions *regions, const struct region *region, uint64_t until_ns,
			uint64_t time_ns, uint64_t start, uint64_t end)
{
	struct region piece = region_piece(region, start, end);

	piece.from_ns = piece.confirmed_ns = time_ns;
	if (region->from_ns <= time_ns && until_ns > time_ns)
		regions_map(regions, &piece);
}

static void inherit_from(struct regions *regions, struct regions *from,
			 const struct region_table *table, uint64_t time_ns, uint64_t start,
			 uint64_t end)
{
	struct region_place place = region_table_seek(table, start);
	const struct region *region;

	while ((region = region_table_next(table, &place)) && region->start < end &&
	       regions_spend(from, 1))
		inherit_one(regions, region, REGION_FOREVER, time_ns, start, end);
}

static void inherit_table(struct regions *regions, struct regions *from,
			  const struct ended_table *table, uint64_t time_ns, uint64_t start,
			  uint64_t end)
{
	if (table->since_ns > time_ns || table->until_ns <= time_ns)
		return;
	inherit_from(regions, from, table->base, time_ns, start, end);
	inherit_from(regions, from, table->table, time_ns, start, end);
}

void regions_inherit(struct regions *regions, struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end)
{
	const struct ended_table live = {.table = from->live,
					 .base = from->base,
					 .since_ns = from->live_since_ns,
					 .until_ns = REGION_FOREVER};

	inherit_table(regions, from, &live, time_ns, start, end);
	for (size_t i = 0; i < from->ended_count; i++)
		inherit_table(regions, from, &from->ended[i], time_ns, start, end);
	if (!regions_spend(from, from->past_count))
		return;
	for (size_t i = 0; i < from->past_count; i++)
		inherit_one(regions, &from->past[i].region, from->past[i].until_ns, time_ns, start,
			    end);
}

void regions_fork(struct regions *child, struct regions *parent, uint64_t time_ns)
{
	regions_clear(child, time_ns);
	if (parent->changed_ns > time_ns || child->changed_ns > time_ns) {
		regions_inherit(child, parent, time_ns, 0, UINT64_MAX);
		return;
	}
	child->live = region_table_share(parent->live);
	child->base = region_table_share(parent->base);
	regions_note_change(child, time_ns);
}

/* --- Forgetting ------------------------------------------------------------------------------ */

void regions_halve(struct regions *regions)
{
	unite_with_base(regions);
	region_table_halve(&regions->live, regions->account);
}

bool regions_forget(struct regions *regions, uint64_t before_ns)
{
	size_t kept = 0;

	regions->late_work = 0;
	regions->past_until_ns = 0;
	for (size_t i = 0; i < regions->past_count; i++) {
		struct ended_region past = regions->past[i];

		if (past.until_ns <= before_ns)
			continue;
		regions->past[kept++] = past;
		regions->past_until_ns = regions_later(regions->past_until_ns, past.until_ns);
	}
	regions->past_count = kept;
	for (kept = 0; kept < regions->ended_count && regions->ended[kept].until_ns <= before_ns;)
		kept++;
	drop_first_ended(regions, kept);
	if (regions->ended_count)
		regions->past_until_ns = regions_later(
			regions->past_until_ns, regions->ended[regions->ended_count - 1].until_ns);
	kept = 0;
	for (size_t i = 0; i < regions->clear_count; i++)
		if (regions->clears[i] > before_ns)
			regions->clears[kept++] = regions->clears[i];
	regions->clear_count = kept;
	if (!regions->past_count && !regions->ended_count && !regions->clear_count)
		regions_drop_past(regions);
	return regions_empty(regions);
}

/* --- Measuring -------------------------------------------------------------------------------- */

static size_t chunk_cost(struct region_chunk *chunk, const struct region_measure *measure)
{
	if (chunk->stamp == measure->stamp)
		return chunk->cost;
	chunk->stamp = measure->stamp;
	chunk->cost = measure->cost ? 0 : sizeof(*chunk) + chunk->room * sizeof(struct region);
	for (size_t i = 0; measure->cost && i < chunk->count; i++)
		chunk->cost += measure->cost(measure->user, &chunk->regions[i]);
	return chunk->cost;
}

static size_t table_cost(struct region_table *table, const struct region_measure *measure)
{
	if (!table)
		return 0;
	if (table->stamp != measure->stamp) {
		table->stamp = measure->stamp;
		table->cost = measure->cost ? 0
					    : sizeof(*table) + table->room * sizeof(*table->parts);
		for (size_t i = 0; i < table->count; i++)
			table->cost += chunk_cost(table->parts[i].chunk, measure) /
				       table->parts[i].chunk->references;
	}
	return table->cost / table->references;
}

size_t regions_cost(const struct regions *regions, const struct region_measure *measure)
{
	size_t cost = table_cost(regions->live, measure) + table_cost(regions->base, measure);

	for (size_t i = 0; i < regions->ended_count; i++)
		cost += table_cost(regions->ended[i].table, measure) +
			table_cost(regions->ended[i].base, measure);
	for (size_t i = 0; measure->cost && i < regions->past_count; i++)
		cost += measure->cost(measure->user, &regions->past[i].region);
	if (measure->cost)
		return cost;
	return cost + regions->past_room * sizeof(*regions->past) +
	       regions->ended_room * sizeof(*regions->ended) +
	       regions->clear_room * sizeof(*regions->clears);
}

static void visit_table(struct region_table *table, uint64_t stamp,
			void (*visit)(void *user, const struct region *region), void *user)
{
	if (!table || table->stamp == stamp)
		return;
	table->stamp = stamp;
	for (size_t part = 0; part < table->count; part++) {
		struct region_chunk *chunk = table->parts[part].chunk;

		if (chunk->stamp == stamp)
			continue;
		chunk->stamp = stamp;
		for (size_t i = 0; i < chunk->count; i++)
			visit(user, &chunk->regions[i]);
	}
}

void regions_visit(const struct regions *regions, uint64_t stamp,
		   void (*visit)(void *user, const struct region *region), void *user)
{
	visit_table(regions->live, stamp, visit, user);
	visit_table(regions->base, stamp, visit, user);
	for (size_t i = 0; i < regions->ended_count; i++) {
		visit_table(regions->ended[i].table, stamp, visit, user);
		visit_table(regions->ended[i].base, stamp, visit, user);
	}
	for (size_t i = 0; i < regions->past_count; i++)
		visit(user, &regions->past[i].region);
}
