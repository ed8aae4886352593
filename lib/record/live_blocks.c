#include "record/live_blocks.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* No index. */
#define NONE UINT32_MAX

/* Limit per process. The kernel's default limit is 65,530. */
enum { MAPPINGS_MAX = 64 << 10 };

/* A process that has blocks. */
struct live_blocks_owner {
	uint32_t first;	    /* first of its blocks; for an unused owner, the next unused one */
	uint32_t *mappings; /* blocks by address, which do not overlap */
	uint32_t mapping_count, mapping_room;
};

struct live_blocks {
	struct live_block *items;
	uint32_t count, room; /* number and capacity of slots */
	uint32_t used;	      /* slots in use */
	uint32_t first_free;  /* list of free slots, linked by `next` */
	uint32_t limit;
	struct idmap by_address; /* (address, pid) → block */

	struct live_blocks_owner *owners;
	uint32_t owner_count, owner_room, first_free_owner;
	struct idmap by_pid; /* (pid, 0) → owner */
};

/* Includes by_address, which has at most twice as many entries. */
_Static_assert(LIVE_BLOCKS_MAX *(sizeof(struct live_block) + 2 * sizeof(struct idmap_entry)) <=
		       120 << 20,
	       "as the header promises");

struct live_blocks *live_blocks_new(uint32_t limit)
{
	struct live_blocks *blocks = xcalloc(1, sizeof(*blocks));

	blocks->limit = limit;
	blocks->first_free = blocks->first_free_owner = NONE;
	return blocks;
}

void live_blocks_free(struct live_blocks *blocks)
{
	if (!blocks)
		return;
	for (uint32_t i = 0; i < blocks->owner_count; i++)
		free(blocks->owners[i].mappings);
	free(blocks->owners);
	free(blocks->items);
	idmap_deinit(&blocks->by_address);
	idmap_deinit(&blocks->by_pid);
	free(blocks);
}

struct live_block *live_blocks_next(struct live_blocks *blocks, uint32_t *at)
{
	while (*at < blocks->count) {
		struct live_block *block = &blocks->items[(*at)++];

		if (block->is_used)
			return block;
	}
	return NULL;
}

/* ---- Owners ---- */

static struct live_blocks_owner *find_owner(const struct live_blocks *blocks, pid_t pid)
{
	uint32_t index = idmap_get(&blocks->by_pid, (uint64_t)pid, 0);

	return index == IDMAP_NONE ? NULL : &blocks->owners[index];
}

static struct live_blocks_owner *make_owner(struct live_blocks *blocks, pid_t pid)
{
	uint32_t *index = idmap_put(&blocks->by_pid, (uint64_t)pid, 0);

	if (*index != IDMAP_NONE)
		return &blocks->owners[*index];
	if (blocks->first_free_owner != NONE) {
		*index = blocks->first_free_owner;
		blocks->first_free_owner = blocks->owners[*index].first;
	} else {
		GROW(blocks->owners, blocks->owner_count, blocks->owner_room);
		*index = blocks->owner_count++;
	}
	blocks->owners[*index] = (struct live_blocks_owner){.first = NONE};
	return &blocks->owners[*index];
}

static void free_owner(struct live_blocks *blocks, pid_t pid)
{
	struct live_blocks_owner *owner = find_owner(blocks, pid);

	free(owner->mappings);
	*owner = (struct live_blocks_owner){.first = blocks->first_free_owner};
	blocks->first_free_owner = (uint32_t)(owner - blocks->owners);
	idmap_remove(&blocks->by_pid, (uint64_t)pid, 0);
}

static uint64_t live_blocks_end_of(const struct live_block *block)
{
	return block->address + block->size_bytes;
}

/* Returns the index of the owner's first mapping that ends after the
 * address. */
static uint32_t live_blocks_find_mapping(const struct live_blocks *blocks,
					 const struct live_blocks_owner *owner, uint64_t address)
{
	uint32_t low = 0, high = owner->mapping_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (live_blocks_end_of(&blocks->items[owner->mappings[middle]]) > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static void add_mapping(struct live_blocks *blocks, struct live_blocks_owner *owner, uint32_t index)
{
	uint32_t at = live_blocks_find_mapping(blocks, owner, blocks->items[index].address);

	GROW(owner->mappings, owner->mapping_count, owner->mapping_room);
	memmove(&owner->mappings[at + 1], &owner->mappings[at],
		(owner->mapping_count - at) * sizeof(*owner->mappings));
	owner->mappings[at] = index;
	owner->mapping_count++;
}

static void remove_mapping(struct live_blocks *blocks, struct live_blocks_owner *owner,
			   uint32_t index)
{
	uint32_t at = live_blocks_find_mapping(blocks, owner, blocks->items[index].address);

	owner->mapping_count--;
	memmove(&owner->mappings[at], &owner->mappings[at + 1],
		(owner->mapping_count - at) * sizeof(*owner->mappings));
}

/* ---- Blocks ---- */

static uint32_t new_slot(struct live_blocks *blocks)
{
	uint32_t index = blocks->first_free;

	if (index != NONE) {
		blocks->first_free = blocks->items[index].next;
		return index;
	}
	GROW(blocks->items, blocks->count, blocks->room);
	return blocks->count++;
}

bool live_blocks_add(struct live_blocks *blocks, const struct live_block *block)
{
	struct live_block *item;
	struct live_blocks_owner *owner;
	uint32_t index;

	if (blocks->used >= blocks->limit)
		return false;
	owner = make_owner(blocks, block->pid);
	if (block->is_mapping && owner->mapping_count >= MAPPINGS_MAX)
		return false;
	index = new_slot(blocks);
	item = &blocks->items[index];
	*item = *block;
	item->is_used = true;
	item->previous = NONE;
	item->next = owner->first;
	if (owner->first != NONE)
		blocks->items[owner->first].previous = index;
	owner->first = index;
	*idmap_put(&blocks->by_address, block->address, (uint32_t)block->pid) = index;
	if (block->is_mapping)
		add_mapping(blocks, owner, index);
	blocks->used++;
	return true;
}

static void live_blocks_take_at(struct live_blocks *blocks, uint32_t index, struct live_block *ret)
{
	struct live_block *item = &blocks->items[index];
	struct live_blocks_owner *owner = find_owner(blocks, item->pid);

	*ret = *item;
	if (item->is_mapping)
		remove_mapping(blocks, owner, index);
	idmap_remove(&blocks->by_address, item->address, (uint32_t)item->pid);
	if (item->next != NONE)
		blocks->items[item->next].previous = item->previous;
	if (item->previous != NONE)
		blocks->items[item->previous].next = item->next;
	else
		owner->first = item->next;
	if (owner->first == NONE)
		free_owner(blocks, item->pid);
	item->is_used = false;
	item->next = blocks->first_free;
	blocks->first_free = index;
	blocks->used--;
}

bool live_blocks_take(struct live_blocks *blocks, pid_t pid, uint64_t address,
		      struct live_block *ret)
{
	uint32_t index = idmap_get(&blocks->by_address, address, (uint32_t)pid);

	if (index == IDMAP_NONE)
		return false;
	live_blocks_take_at(blocks, index, ret);
	return true;
}

bool live_blocks_take_any(struct live_blocks *blocks, pid_t pid, struct live_block *ret)
{
	const struct live_blocks_owner *owner = find_owner(blocks, pid);

	if (!owner)
		return false;
	live_blocks_take_at(blocks, owner->first, ret);
	return true;
}

/* Splits a block at an address. Returns the second part, without objects, and
 * removes it from the block. */
static struct live_block live_blocks_split(struct live_block *block, uint64_t address)
{
	struct live_block part = *block;

	part.address = address;
	part.size_bytes = live_blocks_end_of(block) - address;
	part.bytes = (uint64_t)((hash_wide)block->bytes * part.size_bytes / block->size_bytes);
	part.objects = 0;
	block->size_bytes -= part.size_bytes;
	block->bytes -= part.bytes;
	return part;
}

/* Moves the object to the remaining part. */
static void swap_objects(struct live_block *a, struct live_block *b)
{
	uint64_t objects = a->objects;

	a->objects = b->objects;
	b->objects = objects;
}

/* Adds the part to the set again. If the set is full, adds the part's counts to
 * the taken block. */
static void put_back(struct live_blocks *blocks, const struct live_block *part,
		     struct live_block *taken)
{
	if (live_blocks_add(blocks, part))
		return;
	taken->bytes += part->bytes;
	taken->objects += part->objects;
}

bool live_blocks_take_mapped(struct live_blocks *blocks, pid_t pid, uint64_t start, uint64_t end,
			     struct live_block *ret)
{
	const struct live_blocks_owner *owner = find_owner(blocks, pid);
	uint32_t at = owner ? live_blocks_find_mapping(blocks, owner, start) : 0;
	struct live_block rest;

	if (!owner || at == owner->mapping_count ||
	    blocks->items[owner->mappings[at]].address >= end)
		return false;
	live_blocks_take_at(blocks, owner->mappings[at], ret);
	if (live_blocks_end_of(ret) > end) {
		rest = live_blocks_split(ret, end);
		if (ret->address >= start)
			swap_objects(ret, &rest);
		put_back(blocks, &rest, ret);
	}
	if (ret->address < start) {
		rest = *ret;
		*ret = live_blocks_split(&rest, start);
		put_back(blocks, &rest, ret);
	}
	return true;
}
