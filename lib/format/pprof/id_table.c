#include "format/pprof/id_table.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void id_table_init(struct id_table *table, uint64_t count)
{
	*table = (struct id_table){.dense_count = count + 1}; /* ids start at 1 */
	table->dense = xreallocarray(NULL, table->dense_count, sizeof(*table->dense));
	for (uint64_t i = 0; i < table->dense_count; i++)
		table->dense[i] = IDMAP_NONE;
}

void id_table_deinit(struct id_table *table)
{
	free(table->dense);
	idmap_deinit(&table->sparse);
}

bool id_table_put(struct id_table *table, uint64_t id, uint32_t value)
{
	uint32_t *place = id < table->dense_count ? &table->dense[id]
						  : idmap_put(&table->sparse, id, 0);

	if (*place != IDMAP_NONE)
		return false;
	*place = value;
	return true;
}
