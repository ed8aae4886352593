/*
 * A hash map from a pair of integers to a 32-bit id, for tries, caches and
 * tables. It uses open addressing and is at most two thirds full.
 */
#ifndef PROF_BASE_IDMAP_H
#define PROF_BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No id has this value. */
#define IDMAP_NONE UINT32_MAX

struct idmap_entry {
	uint64_t key;
	uint32_t subkey;
	uint32_t value; /* IDMAP_NONE if the entry is free */
};

struct idmap {
	struct idmap_entry *entries;
	uint32_t count;
	uint32_t mask;
};

/* A map is zero-initialized: `struct idmap map = {0};` */
void idmap_deinit(struct idmap *map);

/* Returns IDMAP_NONE if the pair is missing. */
uint32_t idmap_get(const struct idmap *map, uint64_t key, uint32_t subkey);

/*
 * Returns a pointer to the pair's value, valid until the next call. A new pair
 * has IDMAP_NONE, which the caller must overwrite before the next call.
 */
uint32_t *idmap_put(struct idmap *map, uint64_t key, uint32_t subkey);

/* Prefetches the pair's entry for a lookup that follows soon. */
void idmap_prefetch(const struct idmap *map, uint64_t key, uint32_t subkey);

/* Returns the size of the map in bytes. */
static inline size_t idmap_memory_bytes(const struct idmap *map)
{
	return (size_t)map->mask * sizeof(*map->entries);
}

/* Does nothing if the pair is missing. */
void idmap_remove(struct idmap *map, uint64_t key, uint32_t subkey);

#endif
