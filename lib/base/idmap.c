#include "base/idmap.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <stdlib.h>

void idmap_deinit(struct idmap *map)
{
	free(map->entries);
	*map = (struct idmap){0};
}

/* Returns the slot where the search for a pair starts. */
static uint32_t home_of(uint64_t key, uint32_t subkey)
{
	return (uint32_t)hash_mix(key, subkey);
}

static struct idmap_entry *idmap_entry_of(const struct idmap *map, uint64_t key, uint32_t subkey)
{
	for (uint32_t i = home_of(key, subkey);; i++) {
		struct idmap_entry *entry = &map->entries[i & map->mask];

		if (entry->value == IDMAP_NONE || (entry->key == key && entry->subkey == subkey))
			return entry;
	}
}

static void idmap_grow(struct idmap *map)
{
	struct idmap old = *map;
	uint32_t size = old.entries ? (old.mask + 1) * 2 : 64;

	map->entries = xreallocarray(NULL, size, sizeof(*map->entries));
	map->mask = size - 1;
	for (uint32_t i = 0; i < size; i++)
		map->entries[i].value = IDMAP_NONE;
	for (uint32_t i = 0; old.entries && i <= old.mask; i++) {
		const struct idmap_entry *entry = &old.entries[i];

		if (entry->value != IDMAP_NONE)
			*idmap_entry_of(map, entry->key, entry->subkey) = *entry;
	}
	free(old.entries);
}

uint32_t idmap_get(const struct idmap *map, uint64_t key, uint32_t subkey)
{
	return map->entries ? idmap_entry_of(map, key, subkey)->value : IDMAP_NONE;
}

void idmap_prefetch(const struct idmap *map, uint64_t key, uint32_t subkey)
{
	if (map->entries)
		__builtin_prefetch(&map->entries[home_of(key, subkey) & map->mask]);
}

uint32_t *idmap_put(struct idmap *map, uint64_t key, uint32_t subkey)
{
	struct idmap_entry *entry;

	if (!map->entries || map->count > map->mask / 3 * 2)
		idmap_grow(map);
	entry = idmap_entry_of(map, key, subkey);
	if (entry->value == IDMAP_NONE) {
		entry->key = key;
		entry->subkey = subkey;
		map->count++;
	}
	return &entry->value;
}

/*
 * Returns whether the entry at `at`, whose search starts at `home`, can move to
 * the gap before it.
 */
static bool fits_gap(const struct idmap *map, uint32_t home, uint32_t gap, uint32_t at)
{
	return ((at - home) & map->mask) >= ((at - gap) & map->mask);
}

/*
 * A search ends at the first free slot, so entries after a removed one move up
 * to close the gap.
 */
void idmap_remove(struct idmap *map, uint64_t key, uint32_t subkey)
{
	struct idmap_entry *entries = map->entries;
	uint32_t gap;

	if (!entries || idmap_get(map, key, subkey) == IDMAP_NONE)
		return;
	gap = (uint32_t)(idmap_entry_of(map, key, subkey) - entries);
	for (uint32_t i = gap + 1; entries[i & map->mask].value != IDMAP_NONE; i++) {
		const struct idmap_entry *entry = &entries[i & map->mask];

		if (!fits_gap(map, home_of(entry->key, entry->subkey), gap, i))
			continue;
		entries[gap] = *entry;
		gap = i & map->mask;
	}
	entries[gap].value = IDMAP_NONE;
	map->count--;
}
