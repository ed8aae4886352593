/*
 * A region table contains the current mappings of a process: regions that do
 * not overlap, sorted by address.
 *
 * It is a directory of chunks with up to CHUNK_REGIONS regions each. Tables and
 * chunks are reference-counted and copied on write: a fork shares the table,
 * and a later change in either process copies the directory and one or two
 * chunks. A change moves the regions of at most two chunks. A region that
 * replaces many frees their chunks. Two adjacent chunks together always have
 * more than CHUNK_REGIONS / 2 regions.
 *
 * NULL is the empty table. The account counts the bytes of all tables and
 * chunks, shared ones once.
 */
#ifndef PROF_PROC_REGION_TABLE_H
#define PROF_PROC_REGION_TABLE_H

#include "proc/module.h"

#include <stddef.h>

struct region {
	uint64_t start, end;
	uint64_t offset; /* offset of `start` in the module */
	uint64_t from_ns;
	uint64_t confirmed_ns; /* When a record last confirmed it. Maintained by regions.h. */
	module_id module;
	bool has_samples;
	/*
	 * A copy of the module's text in memory (copied_text.h). If it has
	 * samples, it was compared with the file.
	 */
	bool is_copy;
	bool is_certain; /* a copy, even if it cannot be compared */
};

/*
 * The memory use and the losses of all processes of a recording.
 * Zero-initialized.
 */
struct region_account {
	size_t bytes;	/* allocated for regions */
	uint64_t work;	/* regions and chunks that were read, moved or copied */
	uint64_t stamp; /* of the last measurement or visit */
	uint64_t lost_processes, lost_changes; /* see regions_note_loss() */
};

enum { CHUNK_REGIONS = 128 };

struct region_chunk {
	uint32_t references;
	uint32_t count, room;
	uint64_t newest_ns; /* Latest time at which a region in it was mapped or confirmed. */
	uint64_t stamp;	    /* measurement that set `cost` */
	size_t cost;	    /* cost of this chunk */
	struct region regions[];
};

struct region_part {
	uint64_t start; /* start of the chunk's first region */
	struct region_chunk *chunk;
};

struct region_table {
	uint32_t references;
	uint32_t count, room; /* number of parts; no chunk is empty */
	size_t region_count;
	uint64_t stamp; /* as in struct region_chunk */
	size_t cost;
	struct region_part parts[];
};

/* Takes a reference, which region_table_release() drops. */
struct region_table *region_table_share(struct region_table *table);
void region_table_release(struct region_table *table, struct region_account *account);

/*
 * Returns the last region that starts at or before pc, or NULL. This is the
 * inner loop of unwinding.
 */
static inline struct region *region_table_before(const struct region_table *table, uint64_t pc)
{
	const struct region_part *part;
	struct region *region;
	size_t left;

	if (!table)
		return NULL;
	part = table->parts;
	for (left = table->count; left > 1;) {
		size_t half = left / 2;

		/* Branchless, like the next loop. */
		part += part[half].start <= pc ? half : 0;
		left -= half;
	}
	region = part->chunk->regions;
	for (left = part->chunk->count; left > 1;) {
		size_t half = left / 2;

		region += region[half].start <= pc ? half : 0;
		left -= half;
	}
	return region->start <= pc ? region : NULL;
}

/* A position in a table, valid until the table changes. */
struct region_place {
	size_t part, index;
};

/* Returns the position of the first region that ends after the address. */
struct region_place region_table_seek(const struct region_table *table, uint64_t address);
/*
 * Returns the region at this position and advances it. Returns NULL at the end.
 *
 * 	struct region_place place = region_table_seek(table, start);
 *
 * 	while ((region = region_table_next(table, &place)) && region->start < end)
 */
static inline const struct region *region_table_next(const struct region_table *table,
						     struct region_place *place)
{
	const struct region_chunk *chunk;

	if (!table || place->part >= table->count)
		return NULL;
	chunk = table->parts[place->part].chunk;
	if (place->index + 1 < chunk->count)
		return &chunk->regions[place->index++];
	*place = (struct region_place){.part = place->part + 1};
	return &chunk->regions[chunk->count - 1];
}

/*
 * Adds a region. Overlapped regions lose the part that it covers, and their
 * offsets are adjusted.
 */
void region_table_put(struct region_table **table, struct region_account *account,
		      const struct region *new);
/*
 * Changes the times of the region that starts at `start`, in this table only.
 * The table must contain it.
 */
void region_table_set_times(struct region_table **table, struct region_account *account,
			    uint64_t start, uint64_t from_ns, uint64_t confirmed_ns);
/*
 * Drops the least recently changed half of the chunks, or all if there is only
 * one.
 */
void region_table_halve(struct region_table **table, struct region_account *account);

struct region region_piece(const struct region *region, uint64_t start, uint64_t end);

#endif
