#include "proc/file_table.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/idmap.h"

/*
 * More than two names with the same hash are an attack. Beyond this limit they
 * are not stored.
 */
enum { SAME_HASH_MAX = 8 };

/* No inode has a generation with this bit. */
#define CLAIMED (UINT64_C(1) << 63)

/* A file, as mappings identify it. */
struct file_table_known {
	uint64_t device, inode, generation;
	struct build_id build_id;
	char *name;
	size_t name_len;
	uint32_t id;
};

struct file_table {
	struct file_table_known *files;
	uint32_t count, room;
	size_t name_bytes;
	struct idmap by_hash; /* (hash, 0, 1, 2 …) → index in `files` */
};

struct file_table *file_table_new(void)
{
	return xcalloc(1, sizeof(struct file_table));
}

void file_table_free(struct file_table *table)
{
	if (!table)
		return;
	for (uint32_t i = 0; i < table->count; i++)
		free(table->files[i].name);
	free(table->files);
	idmap_deinit(&table->by_hash);
	free(table);
}

/* Borrows the name. */
static struct file_table_known known_of(const struct mapping *mapping, struct bytes name)
{
	struct file_table_known known = {
		.name = (char *)(uintptr_t)name.at,
		.name_len = bytes_left(&name),
	};

	if (mapping->build_id.len) {
		known.build_id = mapping->build_id;
	} else if (mapping->inode) {
		/* One user may be able to open a file that another cannot. */
		const uint64_t claim = mapping->is_claimed ? CLAIMED | mapping->claimant : 0;

		known.device = (uint64_t)mapping->device_major << 32 | mapping->device_minor;
		known.inode = mapping->inode;
		known.generation = claim ? claim : mapping->generation;
	}
	return known;
}

static uint64_t file_table_hash_of(const struct file_table_known *file)
{
	uint64_t hash = hash_mix(file->inode, file->device);

	hash = hash_mix(hash, file->generation);
	hash = hash_mix(hash, hash_bytes(file->build_id.bytes, file->build_id.len));
	return hash_mix(hash, hash_bytes(file->name, file->name_len));
}

static bool are_same(const struct file_table_known *a, const struct file_table_known *b)
{
	return a->device == b->device && a->inode == b->inode && a->generation == b->generation &&
	       a->build_id.len == b->build_id.len &&
	       memcmp(a->build_id.bytes, b->build_id.bytes, a->build_id.len) == 0 &&
	       a->name_len == b->name_len && memcmp(a->name, b->name, a->name_len) == 0;
}

/* Returns NULL if it is not known. */
static struct file_table_known *file_table_find(const struct file_table *table,
						const struct file_table_known *file)
{
	uint64_t hash = file_table_hash_of(file);

	for (uint32_t i = 0; i < SAME_HASH_MAX; i++) {
		uint32_t index = idmap_get(&table->by_hash, hash, i);

		if (index == IDMAP_NONE)
			return NULL;
		if (are_same(&table->files[index], file))
			return &table->files[index];
	}
	return NULL;
}

uint32_t file_table_get(const struct file_table *table, const struct mapping *mapping,
			struct bytes name)
{
	struct file_table_known file = known_of(mapping, name);
	const struct file_table_known *found = file_table_find(table, &file);

	return found ? found->id : IDMAP_NONE;
}

/* Returns false if too many files have the same hash. */
static bool add_to_map(struct file_table *table, uint32_t index)
{
	uint64_t hash = file_table_hash_of(&table->files[index]);

	for (uint32_t i = 0; i < SAME_HASH_MAX; i++) {
		uint32_t *at = idmap_put(&table->by_hash, hash, i);

		if (*at != IDMAP_NONE)
			continue;
		*at = index;
		return true;
	}
	return false;
}

void file_table_put(struct file_table *table, const struct mapping *mapping, struct bytes name,
		    uint32_t id)
{
	struct file_table_known file = known_of(mapping, name);
	struct file_table_known *old = file_table_find(table, &file);

	if (old) {
		old->id = id;
		return;
	}
	GROW(table->files, table->count, table->room);
	table->files[table->count] = file;
	if (!add_to_map(table, table->count))
		return;
	table->files[table->count].name = xstrndup(file.name, file.name_len);
	table->files[table->count].id = id;
	table->count++;
	table->name_bytes += file.name_len;
}

void file_table_keep(struct file_table *table, const bool *kept, uint32_t count)
{
	uint32_t left = 0;

	idmap_deinit(&table->by_hash);
	for (uint32_t i = 0; i < table->count; i++) {
		struct file_table_known *file = &table->files[i];

		if (file->id >= count || !kept[file->id]) {
			table->name_bytes -= file->name_len;
			free(file->name);
			continue;
		}
		table->files[left] = *file;
		add_to_map(table, left++);
	}
	table->count = left;
}

size_t file_table_bytes(const struct file_table *table)
{
	return table->count * (sizeof(*table->files) + sizeof(struct idmap_entry)) +
	       table->name_bytes;
}
