#include "proc/region_table.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static size_t table_bytes(size_t room)
{
	return sizeof(struct region_table) + room * sizeof(struct region_part);
}

static size_t chunk_bytes(size_t room)
{
	return sizeof(struct region_chunk) + room * sizeof(struct region);
}

/*
 * Reserves an eighth more, because most processes have few mappings and all of
 * them together have many.
 */
static uint32_t more_room(uint32_t count, uint32_t max)
{
	uint32_t room = count + count / 8 + 4;

	return room < max ? room : max;
}

/* --- Ownership -------------------------------------------------------------------------------- */

static struct region_chunk *new_chunk(struct region_account *account, uint32_t room)
{
	struct region_chunk *chunk = xmalloc(chunk_bytes(room));

	*chunk = (struct region_chunk){.references = 1, .room = room};
	account->bytes += chunk_bytes(room);
	return chunk;
}

static void release_chunk(struct region_chunk *chunk, struct region_account *account)
{
	account->work++;
	if (--chunk->references)
		return;
	account->bytes -= chunk_bytes(chunk->room);
	free(chunk);
}

static struct region_table *new_table(struct region_account *account, uint32_t room)
{
	struct region_table *table = xmalloc(table_bytes(room));

	*table = (struct region_table){.references = 1, .room = room};
	account->bytes += table_bytes(room);
	return table;
}

struct region_table *region_table_share(struct region_table *table)
{
	if (table)
		table->references++;
	return table;
}

void region_table_release(struct region_table *table, struct region_account *account)
{
	if (!table || --table->references)
		return;
	for (size_t i = 0; i < table->count; i++)
		release_chunk(table->parts[i].chunk, account);
	account->bytes -= table_bytes(table->room);
	free(table);
}

static struct region_table *copy_table(const struct region_table *table,
				       struct region_account *account)
{
	struct region_table *copy = new_table(account, table->count + 1);

	memcpy(copy->parts, table->parts, table->count * sizeof(*copy->parts));
	copy->count = table->count;
	copy->region_count = table->region_count;
	for (size_t i = 0; i < copy->count; i++)
		copy->parts[i].chunk->references++;
	account->work += copy->count;
	return copy;
}

/* Makes sure that no other process shares the table, and returns it. */
static struct region_table *own_table(struct region_table **table, struct region_account *account)
{
	struct region_table *shared = *table;

	if (shared->references == 1)
		return shared;
	*table = copy_table(shared, account);
	region_table_release(shared, account);
	return *table;
}

/*
 * Makes sure that a chunk of an unshared table is unshared and, if allowed, has
 * room for one more region.
 */
static struct region_chunk *own_chunk(struct region_table *table, size_t part,
				      struct region_account *account)
{
	struct region_chunk *chunk = table->parts[part].chunk;
	struct region_chunk *copy;

	if (chunk->references == 1 && (chunk->count < chunk->room || chunk->room == CHUNK_REGIONS))
		return chunk;
	copy = new_chunk(account, more_room(chunk->count, CHUNK_REGIONS));
	memcpy(copy->regions, chunk->regions, chunk->count * sizeof(*copy->regions));
	copy->count = chunk->count;
	copy->newest_ns = chunk->newest_ns;
	account->work += chunk->count;
	release_chunk(chunk, account);
	return table->parts[part].chunk = copy;
}

/* --- Positions -------------------------------------------------------------------------------- */

/*
 * Returns the number of parts that start at or before the address, but at least
 * one.
 */
static size_t parts_begun(const struct region_table *table, uint64_t address)
{
	size_t base = 0;

	for (size_t left = table->count; left > 1;) {
		size_t half = left / 2;

		base += table->parts[base + half].start <= address ? half : 0;
		left -= half;
	}
	return base + 1;
}

static size_t regions_begun(const struct region_chunk *chunk, uint64_t address)
{
	size_t base = 0;

	for (size_t left = chunk->count; left > 1;) {
		size_t half = left / 2;

		base += chunk->regions[base + half].start <= address ? half : 0;
		left -= half;
	}
	return base + (chunk->regions[base].start <= address);
}

struct region_place region_table_seek(const struct region_table *table, uint64_t address)
{
	struct region_place place = {.part = 0};
	const struct region_chunk *chunk;

	if (!table)
		return place;
	place.part = parts_begun(table, address) - 1;
	chunk = table->parts[place.part].chunk;
	place.index = regions_begun(chunk, address);
	if (place.index && chunk->regions[place.index - 1].end > address)
		place.index--;
	if (place.index == chunk->count)
		place = (struct region_place){.part = place.part + 1};
	return place;
}

/* --- Changes ---------------------------------------------------------------------------------- */

/* Makes room for a part in an unshared table. */
static struct region_table *region_table_add_part(struct region_table **table, size_t at,
						  struct region_chunk *chunk,
						  struct region_account *account)
{
	struct region_table *own = *table;

	if (own->count == own->room) {
		account->bytes -= table_bytes(own->room);
		own->room = more_room(own->count, UINT32_MAX);
		account->bytes += table_bytes(own->room);
		*table = own = xreallocarray(own, table_bytes(own->room), 1);
	}
	memmove(own->parts + at + 1, own->parts + at, (own->count - at) * sizeof(*own->parts));
	account->work += own->count - at;
	own->parts[at].chunk = chunk;
	own->count++;
	return own;
}

static void remove_parts(struct region_table *table, size_t first, size_t last,
			 struct region_account *account)
{
	if (first >= last)
		return;
	for (size_t i = first; i < last; i++) {
		table->region_count -= table->parts[i].chunk->count;
		release_chunk(table->parts[i].chunk, account);
	}
	memmove(table->parts + first, table->parts + last,
		(table->count - last) * sizeof(*table->parts));
	account->work += table->count - last;
	table->count -= (uint32_t)(last - first);
}

static void note_start(struct region_table *table, size_t part)
{
	table->parts[part].start = table->parts[part].chunk->regions[0].start;
}

static void note_times(struct region_chunk *chunk, const struct region *region)
{
	if (region->from_ns > chunk->newest_ns)
		chunk->newest_ns = region->from_ns;
	if (region->confirmed_ns > chunk->newest_ns)
		chunk->newest_ns = region->confirmed_ns;
}

/* Merges two small adjacent chunks. */
static void unite(struct region_table *table, size_t part, struct region_account *account)
{
	struct region_chunk *left, *right;

	if (part + 1 >= table->count)
		return;
	right = table->parts[part + 1].chunk;
	if (table->parts[part].chunk->count + right->count > CHUNK_REGIONS / 2)
		return;
	left = new_chunk(account, CHUNK_REGIONS / 2);
	left->count = table->parts[part].chunk->count;
	memcpy(left->regions, table->parts[part].chunk->regions,
	       left->count * sizeof(*left->regions));
	memcpy(left->regions + left->count, right->regions, right->count * sizeof(*left->regions));
	left->newest_ns = table->parts[part].chunk->newest_ns;
	if (right->newest_ns > left->newest_ns)
		left->newest_ns = right->newest_ns;
	left->count += right->count;
	account->work += left->count;
	table->region_count += right->count;
	release_chunk(table->parts[part].chunk, account);
	table->parts[part].chunk = left;
	remove_parts(table, part + 1, part + 2, account);
}

/* Call this after the chunk of a part was created or has shrunk. */
static void region_table_tidy(struct region_table *table, size_t part,
			      struct region_account *account)
{
	unite(table, part, account);
	if (part && part <= table->count)
		unite(table, part - 1, account);
}

/* Moves the upper half of a full chunk to a new next part. */
static uint32_t split_in_half(struct region_table **table, size_t part,
			      struct region_account *account)
{
	struct region_chunk *full = own_chunk(*table, part, account);
	struct region_chunk *chunk = new_chunk(account, CHUNK_REGIONS);
	uint32_t kept = full->count / 2;

	chunk->count = full->count - kept;
	chunk->newest_ns = full->newest_ns;
	memcpy(chunk->regions, full->regions + kept, chunk->count * sizeof(*chunk->regions));
	account->work += chunk->count;
	full->count = kept;
	region_table_add_part(table, part + 1, chunk, account);
	note_start(*table, part + 1);
	return kept;
}

/*
 * Makes room in a full chunk for a region at this position, and returns its new
 * position. A chunk that grows at one end stays full, and the new region gets a
 * new chunk.
 */
static struct region_place region_table_split(struct region_table **table,
					      struct region_place place,
					      struct region_account *account)
{
	size_t count = (*table)->parts[place.part].chunk->count;
	bool is_behind = place.index == count;
	uint32_t kept;

	if (place.index == 0 || is_behind) {
		place = (struct region_place){.part = place.part + is_behind};
		region_table_add_part(table, place.part,
				      new_chunk(account, more_room(0, CHUNK_REGIONS)), account);
		return place;
	}
	kept = split_in_half(table, place.part, account);
	if (place.index > kept)
		return (struct region_place){place.part + 1, place.index - kept};
	return place;
}

/* Inserts into an unshared table that has nothing there. */
static void insert(struct region_table **table, const struct region *new,
		   struct region_account *account)
{
	struct region_place place = {.part = 0};
	struct region_chunk *chunk;
	bool is_new = false;

	if (!*table) {
		*table = new_table(account, 1);
		chunk = new_chunk(account, more_room(0, CHUNK_REGIONS));
		region_table_add_part(table, 0, chunk, account);
	} else {
		place.part = parts_begun(*table, new->start) - 1;
		chunk = (*table)->parts[place.part].chunk;
		place.index = regions_begun(chunk, new->start);
		is_new = chunk->count == CHUNK_REGIONS;
		if (is_new)
			place = region_table_split(table, place, account);
		chunk = own_chunk(*table, place.part, account);
	}
	memmove(chunk->regions + place.index + 1, chunk->regions + place.index,
		(chunk->count - place.index) * sizeof(*chunk->regions));
	account->work += chunk->count - place.index + 1;
	chunk->regions[place.index] = *new;
	chunk->count++;
	(*table)->region_count++;
	note_start(*table, place.part);
	note_times(chunk, new);
	if (is_new)
		region_table_tidy(*table, place.part, account);
}

/* Drops regions of one chunk of an unshared table. */
static void erase_in_chunk(struct region_table *table, size_t part, size_t first, size_t last,
			   struct region_account *account)
{
	struct region_chunk *chunk = table->parts[part].chunk;

	if (first >= last)
		return;
	if (first == 0 && last == chunk->count) {
		remove_parts(table, part, part + 1, account);
		return;
	}
	chunk = own_chunk(table, part, account);
	memmove(chunk->regions + first, chunk->regions + last,
		(chunk->count - last) * sizeof(*chunk->regions));
	account->work += chunk->count - last;
	chunk->count -= (uint32_t)(last - first);
	table->region_count -= last - first;
	note_start(table, part);
}

/* Drops the regions from one position up to another in an unshared table. */
static void erase(struct region_table **table, struct region_place first, struct region_place last,
		  struct region_account *account)
{
	struct region_table *own = *table;

	if (first.part == last.part) {
		erase_in_chunk(own, first.part, first.index, last.index, account);
	} else {
		/* Starts at the end, so that earlier positions stay valid. */
		if (last.index)
			erase_in_chunk(own, last.part, 0, last.index, account);
		remove_parts(own, first.part + 1, last.part, account);
		erase_in_chunk(own, first.part, first.index, own->parts[first.part].chunk->count,
			       account);
	}
	if (own->count) {
		region_table_tidy(own, first.part + 1, account);
		region_table_tidy(own, first.part, account);
		return;
	}
	region_table_release(own, account);
	*table = NULL;
}

struct region region_piece(const struct region *region, uint64_t start, uint64_t end)
{
	struct region piece = *region;

	piece.start = start > region->start ? start : region->start;
	piece.end = end < region->end ? end : region->end;
	piece.offset += piece.start - region->start;
	return piece;
}

/* Returns the position after all regions that start before `end`. */
static struct region_place place_behind(const struct region_table *table, uint64_t end)
{
	struct region_place place = {.part = parts_begun(table, end - 1) - 1};

	place.index = regions_begun(table->parts[place.part].chunk, end - 1);
	return place;
}

/*
 * The end of a chunk and the start of the next one are equivalent. Returns the
 * former, like place_behind().
 */
static struct region_place place_from(const struct region_table *table, uint64_t start)
{
	struct region_place place = place_behind(table, start + 1);
	const struct region_chunk *chunk = table->parts[place.part].chunk;

	if (place.index && chunk->regions[place.index - 1].end > start)
		place.index--;
	return place;
}

void region_table_put(struct region_table **table, struct region_account *account,
		      const struct region *new)
{
	struct region left = {.start = 0}, right = {.start = 0};
	struct region_place place = region_table_seek(*table, new->start);
	const struct region *first = region_table_next(*table, &place), *last;

	if (*table)
		own_table(table, account);
	if (first && first->start < new->end) {
		last = region_table_before(*table, new->end - 1);
		left = region_piece(first, 0, new->start);
		right = region_piece(last, new->end, UINT64_MAX);
		erase(table, place_from(*table, new->start), place_behind(*table, new->end),
		      account);
	}
	if (left.start < left.end)
		insert(table, &left, account);
	insert(table, new, account);
	if (right.start < right.end)
		insert(table, &right, account);
}

void region_table_set_times(struct region_table **table, struct region_account *account,
			    uint64_t start, uint64_t from_ns, uint64_t confirmed_ns)
{
	struct region_table *own = own_table(table, account);
	size_t part = parts_begun(own, start) - 1;
	struct region_chunk *chunk = own_chunk(own, part, account);
	struct region *region = &chunk->regions[regions_begun(chunk, start) - 1];

	region->from_ns = from_ns;
	region->confirmed_ns = confirmed_ns;
	note_times(chunk, region);
}

static int region_table_compare_times(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

/* Returns the median of the times of the chunks' last changes. */
static uint64_t median_of(const struct region_table *table)
{
	CLEANUP(free_ptr) uint64_t *times = xcalloc(table->count, sizeof(*times));

	for (size_t i = 0; i < table->count; i++)
		times[i] = table->parts[i].chunk->newest_ns;
	qsort(times, table->count, sizeof(*times), region_table_compare_times);
	return times[(table->count - 1) / 2];
}

void region_table_halve(struct region_table **table, struct region_account *account)
{
	struct region_table *old = *table, *kept;
	size_t surplus;
	uint64_t median_ns;

	if (!old)
		return;
	median_ns = median_of(old);
	kept = new_table(account, old->count / 2 + 1);
	account->work += old->count;
	surplus = (old->count + 1) / 2;
	for (size_t i = 0; i < old->count; i++) {
		if (surplus && old->parts[i].chunk->newest_ns <= median_ns) {
			surplus--;
			continue;
		}
		kept->parts[kept->count++] = old->parts[i];
		old->parts[i].chunk->references++;
		kept->region_count += old->parts[i].chunk->count;
	}
	region_table_release(old, account);
	if (!kept->count) {
		region_table_release(kept, account);
		kept = NULL;
	}
	for (size_t i = kept ? kept->count : 0; i-- > 0;)
		if (i < kept->count)
			unite(kept, i, account);
	*table = kept;
}
