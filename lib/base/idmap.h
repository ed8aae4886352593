/*
 * A hash map from a pair of integers to a 32-bit id: what tries, caches and tables are keyed by.
 * Open addressing, at most two thirds full.
 */
#ifndef PROF_BASE_IDMAP_H
#define PROF_BASE_IDMAP_H

#include <stdbool.h>
#include <stdint.h>

/* No id has this value. */
#define IDMAP_NONE UINT32_MAX

struct idmap_entry {
	uint64_t key;
	uint32_t subkey;
	uint32_t value; /* IDMAP_NONE: free */
};

struct idmap {
	struct idmap_entry *entries;
	uint32_t count;
	uint32_t mask;
};

/* A zeroed map is an empty one: `struct idmap map = {0};` */
void idmap_deinit(struct idmap *map);

/* IDMAP_NONE when the pair is not there. */
uint32_t idmap_get(const struct idmap *map, uint64_t key, uint32_t subkey);

/*
 * The place of the pair's value; a new pair gets IDMAP_NONE, which the caller must overwrite before
 * the next call. Valid until the next call.
 */
uint32_t *idmap_put(struct idmap *map, uint64_t key, uint32_t subkey);

/* The pair is soon asked for: its place may be on its way from memory by then. */
void idmap_prefetch(const struct idmap *map, uint64_t key, uint32_t subkey);

/* Nothing happens when the pair is not there. */
void idmap_remove(struct idmap *map, uint64_t key, uint32_t subkey);

#endif
