#include "perfdata/file_build_ids.h"

#include "base/alloc.h"
#include "perfdata/format.h"

#include <stdlib.h>

enum {
	/* The id, its length, which older versions of perf do not set, and
	 * padding. */
	ID_FIELD_BYTES = 24,
};

void file_build_ids_init(struct file_build_ids *ids)
{
	*ids = (struct file_build_ids){.paths = strtab_new()};
}

void file_build_ids_deinit(struct file_build_ids *ids)
{
	strtab_free(ids->paths);
	free(ids->items);
}

static struct file_build_id *item_of(struct file_build_ids *ids, string_id path)
{
	while (ids->room <= path) {
		size_t old = ids->room;

		ids->room = old ? 2 * old : 64;
		ids->items = xreallocarray(ids->items, ids->room, sizeof(*ids->items));
		memset(ids->items + old, 0, (ids->room - old) * sizeof(*ids->items));
	}
	return &ids->items[path];
}

static void file_build_ids_add_one(struct file_build_ids *ids, uint16_t misc, struct bytes body)
{
	const unsigned char *id;
	const char *path;
	struct file_build_id *item;

	/* Pid, which identifies the machine for guests. */
	bytes_skip(&body, sizeof(uint32_t));
	id = bytes_take(&body, ID_FIELD_BYTES);
	path = bytes_cstr(&body);
	if (!id || !path)
		return;
	item = item_of(ids, strtab_add(ids->paths, path));
	item->len = RECORD_BUILD_ID_MAX;
	if (misc & PERFDATA_MISC_BUILD_ID_SIZE && id[RECORD_BUILD_ID_MAX] <= RECORD_BUILD_ID_MAX)
		item->len = id[RECORD_BUILD_ID_MAX];
	memcpy(item->id, id, item->len);
}

void file_build_ids_add(struct file_build_ids *ids, struct bytes records)
{
	enum { HEADER_BYTES = 8 };

	for (;;) {
		struct bytes record = records;
		uint16_t misc, size;

		/* Type, which is not always set. */
		bytes_skip(&record, sizeof(uint32_t));
		misc = bytes_u16(&record);
		size = bytes_u16(&record);
		if (!bytes_ok(&record) || size < HEADER_BYTES)
			return;
		record = bytes_sub(&records, size);
		bytes_skip(&record, HEADER_BYTES);
		file_build_ids_add_one(ids, misc, record);
	}
}

unsigned file_build_ids_get(struct file_build_ids *ids, const char *path,
			    uint8_t ret[RECORD_BUILD_ID_MAX])
{
	const struct file_build_id *item;

	if (!ids->room)
		return 0;
	item = item_of(ids, strtab_add(ids->paths, path));
	memcpy(ret, item->id, item->len);
	return item->len;
}
