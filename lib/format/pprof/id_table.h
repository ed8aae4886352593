/*
 * Maps the ids of a file to our own numbers. Ids are usually dense but can have
 * any value.
 */
#ifndef PROF_FORMAT_PPROF_ID_TABLE_H
#define PROF_FORMAT_PPROF_ID_TABLE_H

#include "base/idmap.h"

struct id_table {
	uint32_t *dense; /* ids below dense_count */
	uint64_t dense_count;
	struct idmap sparse;
};

/* count: the expected number of ids. */
void id_table_init(struct id_table *table, uint64_t count);
void id_table_deinit(struct id_table *table);

/* Returns false if the id exists. value must not be IDMAP_NONE. */
bool id_table_put(struct id_table *table, uint64_t id, uint32_t value);

/* Returns the size of the table in bytes. */
static inline size_t id_table_memory_bytes(const struct id_table *table)
{
	return table->dense_count * sizeof(*table->dense) + idmap_memory_bytes(&table->sparse);
}

/* Returns IDMAP_NONE if the id does not exist. */
static inline uint32_t id_table_get(const struct id_table *table, uint64_t id)
{
	return id < table->dense_count ? table->dense[id] : idmap_get(&table->sparse, id, 0);
}

#endif
