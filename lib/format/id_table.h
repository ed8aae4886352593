/*
 * From the ids of a file, which are dense most often and may be anything, to ids of our own.
 */
#ifndef PROF_FORMAT_ID_TABLE_H
#define PROF_FORMAT_ID_TABLE_H

#include "base/idmap.h"

struct id_table {
	uint32_t *dense; /* ids below dense_count */
	uint64_t dense_count;
	struct idmap sparse;
};

/* count: of the ids that are expected. */
void id_table_init(struct id_table *table, uint64_t count);
void id_table_deinit(struct id_table *table);

/* False when the id is there already. value is not IDMAP_NONE. */
bool id_table_put(struct id_table *table, uint64_t id, uint32_t value);

/* IDMAP_NONE when it is not there. */
static inline uint32_t id_table_get(const struct id_table *table, uint64_t id)
{
	return id < table->dense_count ? table->dense[id] : idmap_get(&table->sparse, id, 0);
}

#endif
