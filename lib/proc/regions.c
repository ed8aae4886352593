#include "proc/regions.h"

#include "base/alloc.h"

void regions_deinit(struct regions *regions)
{
	free(regions->live);
	free(regions->past);
	free(regions->clears);
}

/* The number of live regions that begin at or before pc. */
static size_t begun_at(const struct regions *regions, uint64_t pc)
{
	const struct region *base = regions->live;
	size_t left = regions->live_count;

	if (!left)
		return 0;
	while (left > 1) {
		size_t half = left / 2;

		/* Branchless: this is the inner loop of unwinding. */
		base += base[half].start <= pc ? half : 0;
		left -= half;
	}
	return (size_t)(base - regions->live) + (base->start <= pc);
}

/* The live regions that overlap [start, end): indices *first to before *last. */
static void overlapping(const struct regions *regions, uint64_t start, uint64_t end, size_t *first,
			size_t *last)
{
	*first = begun_at(regions, start);
	if (*first && regions->live[*first - 1].end > start)
		--*first;
	*last = begun_at(regions, end - 1);
}

static bool overlap(const struct region *a, const struct region *b)
{
	return a->start < b->end && b->start < a->end;
}

static struct region piece_of(const struct region *region, uint64_t start, uint64_t end)
{
	struct region piece = *region;

	piece.start = start > region->start ? start : region->start;
	piece.end = end < region->end ? end : region->end;
	piece.offset += piece.start - region->start;
	return piece;
}

static void add_past(struct regions *regions, struct region region)
{
	if (region.start >= region.end || region.from_ns >= region.until_ns)
		return;
	GROW(regions->past, regions->past_count, regions->past_room);
	regions->past[regions->past_count++] = region;
	if (region.until_ns > regions->past_until_ns)
		regions->past_until_ns = region.until_ns;
}

/* Replaces live[first] to before live[last] with count regions. */
static void splice(struct regions *regions, size_t first, size_t last, const struct region *new,
		   size_t count)
{
	size_t tail = regions->live_count - last;
	size_t total = first + count + tail;

	if (total > regions->live_room) {
		regions->live_room = 2 * total;
		regions->live = xreallocarray(regions->live, regions->live_room,
					      sizeof(*regions->live));
	}
	if (tail)
		memmove(regions->live + first + count, regions->live + last,
			tail * sizeof(*regions->live));
	memcpy(regions->live + first, new, count * sizeof(*new));
	regions->live_count = total;
}

/*
 * Adds a live region. Parts of overlapping live regions outside of it stay live; the rest becomes
 * past.
 */
static void place_live(struct regions *regions, const struct region *new)
{
	struct region pieces[3];
	size_t count = 0;
	size_t first, last;

	overlapping(regions, new->start, new->end, &first, &last);
	if (first < last && regions->live[first].start < new->start)
		pieces[count++] = piece_of(&regions->live[first], 0, new->start);
	pieces[count++] = *new;
	if (first < last && regions->live[last - 1].end > new->end)
		pieces[count++] = piece_of(&regions->live[last - 1], new->end, UINT64_MAX);
	for (size_t i = first; i < last; i++) {
		struct region ended = piece_of(&regions->live[i], new->start, new->end);

		ended.until_ns = new->from_ns;
		add_past(regions, ended);
	}
	splice(regions, first, last, pieces, count);
}

/* The same for past regions, for changes that arrive late. */
static void place_past(struct regions *regions, const struct region *new)
{
	size_t count = regions->past_count;

	for (size_t i = 0; i < count; i++) {
		struct region old = regions->past[i];

		if (!overlap(&old, new) || old.from_ns > new->from_ns ||
		    old.until_ns <= new->from_ns)
			continue;
		add_past(regions, piece_of(&old, 0, new->start));
		add_past(regions, piece_of(&old, new->end, UINT64_MAX));
		regions->past[i] = piece_of(&old, new->start, new->end);
		regions->past[i].until_ns = new->from_ns;
	}
	add_past(regions, *new);
}

/* When a region that begins at time_ns must end because of `other`. */
static uint64_t end_because_of(const struct region *other, uint64_t time_ns)
{
	return other->from_ns > time_ns	   ? other->from_ns
	       : other->until_ns > time_ns ? other->until_ns
					   : REGION_FOREVER;
}

/* A region that ends `new` or a part of it; NULL if there is none. */
static const struct region *limit_of(const struct regions *regions, const struct region *new)
{
	size_t first, last;

	if (regions->changed_ns <= new->from_ns)
		return NULL;
	overlapping(regions, new->start, new->end, &first, &last);
	for (size_t i = first; i < last; i++)
		if (end_because_of(&regions->live[i], new->from_ns) < new->until_ns)
			return &regions->live[i];
	for (size_t i = 0; i < regions->past_count; i++)
		if (overlap(&regions->past[i], new) &&
		    end_because_of(&regions->past[i], new->from_ns) < new->until_ns)
			return &regions->past[i];
	return NULL;
}

/*
 * Whether the region is completely mapped already. Then only the time is noted, for earlier
 * changes that arrive late.
 */
static bool confirm(struct regions *regions, const struct region *new)
{
	size_t first, last;
	uint64_t at = new->start;

	overlapping(regions, new->start, new->end, &first, &last);
	for (size_t i = first; i < last; i++) {
		const struct region *live = &regions->live[i];

		if (live->start > at || live->module != new->module ||
		    live->offset - live->start != new->offset - new->start ||
		    live->from_ns > new->from_ns)
			return false;
		at = live->end;
	}
	if (at < new->end)
		return false;
	for (size_t i = first; i < last; i++)
		if (regions->live[i].confirmed_ns < new->from_ns)
			regions->live[i].confirmed_ns = new->from_ns;
	return true;
}

static void split_one(struct regions *regions, struct region *region, uint64_t time_ns)
{
	struct region before = *region;

	if (region->from_ns > time_ns || region->confirmed_ns <= time_ns)
		return;
	before.until_ns = before.confirmed_ns;
	before.confirmed_ns = before.from_ns;
	region->from_ns = region->confirmed_ns;
	add_past(regions, before);
}

/* A change that arrives late does not affect regions that were confirmed after it. */
static void split_at_confirmations(struct regions *regions, uint64_t time_ns)
{
	size_t past_count = regions->past_count;

	if (regions->changed_ns <= time_ns)
		return;
	for (size_t i = 0; i < past_count; i++)
		split_one(regions, &regions->past[i], time_ns);
	for (size_t i = 0; i < regions->live_count; i++)
		split_one(regions, &regions->live[i], time_ns);
}

static uint64_t next_clear(const struct regions *regions, uint64_t time_ns)
{
	uint64_t next = REGION_FOREVER;

	for (size_t i = 0; i < regions->clear_count; i++)
		if (regions->clears[i] > time_ns && regions->clears[i] < next)
			next = regions->clears[i];
	return next;
}

static void note_change(struct regions *regions, uint64_t time_ns)
{
	if (time_ns > regions->changed_ns)
		regions->changed_ns = time_ns;
}

/* Adds the part of a region between start and end, if any. */
static void add_piece(struct region **pieces, size_t *count, size_t *room,
		      const struct region *region, uint64_t start, uint64_t end, uint64_t until_ns)
{
	struct region piece = piece_of(region, start, end);

	piece.until_ns = until_ns;
	if (piece.start >= piece.end)
		return;
	GROW(*pieces, *count, *room);
	(*pieces)[(*count)++] = piece;
}

/* Where a mapping that is reported late was replaced in more places, the rest of it is lost. */
enum { LATE_PIECES_MAX = 1024 };

/* Splits the new region along those that limit it, until each piece begins and ends at one time. */
static void place(struct regions *regions, const struct region *new)
{
	uint64_t from_ns = new->from_ns;
	CLEANUP(free_ptr) struct region *todo = NULL;
	size_t count = 0, room = 0;

	add_piece(&todo, &count, &room, new, 0, UINT64_MAX, next_clear(regions, from_ns));
	for (unsigned pieces = 0; count && pieces < LATE_PIECES_MAX; pieces++) {
		struct region piece = todo[--count];
		const struct region *limit = limit_of(regions, &piece);

		if (limit) {
			uint64_t start = limit->start, end = limit->end;

			add_piece(&todo, &count, &room, &piece, 0, start, piece.until_ns);
			add_piece(&todo, &count, &room, &piece, end, UINT64_MAX, piece.until_ns);
			add_piece(&todo, &count, &room, &piece, start, end,
				  end_because_of(limit, from_ns));
		} else if (piece.until_ns == REGION_FOREVER) {
			place_live(regions, &piece);
		} else {
			place_past(regions, &piece);
		}
	}
}

void regions_map(struct regions *regions, const struct region *new)
{
	struct region region = *new;

	if (new->start >= new->end)
		return;
	if (!confirm(regions, new)) {
		split_at_confirmations(regions, new->from_ns);
		region.confirmed_ns = new->from_ns;
		place(regions, &region);
	}
	note_change(regions, new->from_ns);
}

void regions_clear(struct regions *regions, uint64_t time_ns)
{
	size_t kept = 0;

	split_at_confirmations(regions, time_ns);
	for (size_t i = 0; i < regions->past_count; i++)
		if (regions->past[i].from_ns <= time_ns && regions->past[i].until_ns > time_ns)
			regions->past[i].until_ns = time_ns;
	for (size_t i = 0; i < regions->live_count; i++) {
		struct region region = regions->live[i];

		if (region.from_ns > time_ns) {
			regions->live[kept++] = region;
			continue;
		}
		region.until_ns = time_ns;
		add_past(regions, region);
	}
	regions->live_count = kept;
	GROW(regions->clears, regions->clear_count, regions->clear_room);
	regions->clears[regions->clear_count++] = time_ns;
	note_change(regions, time_ns);
}

/* Whether an inherited region begins at time_ns; *piece: the part of it between start and end. */
static bool is_inherited(const struct region *region, uint64_t time_ns, uint64_t start,
			 uint64_t end, struct region *piece)
{
	*piece = piece_of(region, start, end);
	piece->from_ns = piece->confirmed_ns = time_ns;
	return region->from_ns <= time_ns && region->until_ns > time_ns;
}

static void inherit_one(struct regions *regions, const struct region *region, uint64_t time_ns,
			uint64_t start, uint64_t end)
{
	struct region piece;

	if (is_inherited(region, time_ns, start, end, &piece))
		regions_map(regions, &piece);
}

/* A child begins with nothing, so nothing is in the way of what it inherits. */
static void inherit_first(struct regions *regions, const struct region *from, size_t count,
			  uint64_t time_ns, uint64_t start, uint64_t end)
{
	regions->live_room = count ? count : 1;
	regions->live = xreallocarray(regions->live, regions->live_room, sizeof(*regions->live));
	for (size_t i = 0; i < count; i++)
		if (is_inherited(&from[i], time_ns, start, end,
				 &regions->live[regions->live_count]))
			regions->live_count++;
	note_change(regions, time_ns);
}

void regions_inherit(struct regions *regions, const struct regions *from, uint64_t time_ns,
		     uint64_t start, uint64_t end)
{
	size_t first, last;

	overlapping(from, start, end, &first, &last);
	if (!regions->live_count && regions->changed_ns <= time_ns) {
		inherit_first(regions, from->live + first, last - first, time_ns, start, end);
		first = last;
	}
	for (size_t i = first; i < last; i++)
		inherit_one(regions, &from->live[i], time_ns, start, end);
	for (size_t i = 0; i < from->past_count; i++)
		inherit_one(regions, &from->past[i], time_ns, start, end);
}

const struct region *regions_before(const struct regions *regions, uint64_t address)
{
	size_t begun = begun_at(regions, address);

	return begun ? &regions->live[begun - 1] : NULL;
}

struct region *regions_find(const struct regions *regions, uint64_t time_ns, uint64_t pc)
{
	size_t begun = begun_at(regions, pc);

	if (begun) {
		struct region *live = &regions->live[begun - 1];

		if (pc < live->end && live->from_ns <= time_ns)
			return live;
	}
	if (time_ns >= regions->past_until_ns)
		return NULL;
	for (size_t i = 0; i < regions->past_count; i++) {
		struct region *past = &regions->past[i];

		if (pc >= past->start && pc < past->end && past->from_ns <= time_ns &&
		    time_ns < past->until_ns)
			return past;
	}
	return NULL;
}

size_t regions_count(const struct regions *regions)
{
	return regions->live_count + regions->past_count;
}

static int compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static uint64_t last_seen(const struct region *region)
{
	return region->confirmed_ns > region->from_ns ? region->confirmed_ns : region->from_ns;
}

void regions_halve(struct regions *regions)
{
	size_t count = regions->live_count, kept = 0;
	CLEANUP(free_ptr) uint64_t *times = xcalloc(count, sizeof(*times));
	struct region *halved;

	free(regions->past);
	regions->past = NULL;
	regions->past_count = regions->past_room = 0;
	regions->past_until_ns = 0;
	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		times[i] = last_seen(&regions->live[i]);
	qsort(times, count, sizeof(*times), compare_times);
	for (size_t i = 0; i < count; i++)
		if (last_seen(&regions->live[i]) > times[count / 2])
			regions->live[kept++] = regions->live[i];
	/* A copy: shrunk in place, it would leave holes that the next one does not fit into. */
	halved = xreallocarray(NULL, kept + 1, sizeof(*halved));
	memcpy(halved, regions->live, kept * sizeof(*halved));
	free(regions->live);
	regions->live = halved;
	regions->live_count = kept;
	regions->live_room = kept + 1;
}

bool regions_empty(const struct regions *regions)
{
	return !regions->live_count && !regions->past_count && !regions->clear_count;
}

bool regions_forget(struct regions *regions, uint64_t before_ns)
{
	size_t kept = 0;

	regions->past_until_ns = 0;
	for (size_t i = 0; i < regions->past_count; i++) {
		struct region region = regions->past[i];

		if (region.until_ns <= before_ns)
			continue;
		regions->past[kept++] = region;
		if (region.until_ns > regions->past_until_ns)
			regions->past_until_ns = region.until_ns;
	}
	regions->past_count = kept;
	kept = 0;
	for (size_t i = 0; i < regions->clear_count; i++)
		if (regions->clears[i] > before_ns)
			regions->clears[kept++] = regions->clears[i];
	regions->clear_count = kept;
	return regions_empty(regions);
}
