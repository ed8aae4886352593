/*
 * Tables of interned entries: a growing array, and a map from the key that
 * makes an entry unique to its index, which is the entry's id.
 */
#ifndef PROF_PROFILE_TABLE_H
#define PROF_PROFILE_TABLE_H

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>

/* Combines two 32-bit numbers into one key. */
static inline uint64_t table_key(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Zeroed: an empty table. */
#define TABLE(type)                                                                                \
	struct {                                                                                   \
		type *items;                                                                       \
		uint32_t count, room;                                                              \
		struct idmap ids;                                                                  \
	}

#define TABLE_DEINIT(table)                                                                        \
	do {                                                                                       \
		free((table).items);                                                               \
		idmap_deinit(&(table).ids);                                                        \
	} while (0)

#define TABLE_MEMORY_BYTES(table)                                                                  \
	((table).count * sizeof(*(table).items) + idmap_memory_bytes(&(table).ids))

/*
 * Returns the id of (key, subkey): the existing one, or a new one for `item`.
 */
#define TABLE_PUT(table, key, subkey, ...)                                                         \
	__extension__({                                                                            \
		uint32_t *id_ = idmap_put(&(table).ids, (key), (subkey));                          \
                                                                                                   \
		if (*id_ == IDMAP_NONE) {                                                          \
			GROW((table).items, (table).count, (table).room);                          \
			(table).items[(table).count] = __VA_ARGS__;                                \
			*id_ = (table).count++;                                                    \
		}                                                                                  \
		*id_;                                                                              \
	})

#endif
