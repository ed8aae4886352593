/*
 * A region table holds the present mappings of a process: regions that do not overlap, sorted by
 * address.
 *
 * It is a directory of chunks, each of up to CHUNK_REGIONS regions. Tables and chunks are counted
 * and copied on write: a fork shares the table, and a change in either process then copies the
 * directory and one or two chunks. A change moves the regions of two chunks at most; a region that
 * replaces many frees their chunks. Any two neighbouring chunks have more than CHUNK_REGIONS / 2
 * regions.
 *
 * NULL is the empty table. The account has the bytes of all tables and chunks, those that are
 * shared once.
 */
#ifndef PROF_PROC_REGION_TABLE_H
#define PROF_PROC_REGION_TABLE_H

#include "proc/module.h"

#include <stddef.h>

struct region {
	uint64_t start, end;
	uint64_t offset; /* in the module, of start */
	uint64_t from_ns;
	uint64_t confirmed_ns; /* when a record last confirmed it; maintained by regions */
	module_id module;
	bool has_samples;
	bool is_copy; /* of the module's text, in memory (copied_text.h); with samples: compared */
	bool is_certain; /* a copy, even if it cannot be compared */
};

/* What all processes of a recording need and have lost. Zero-initialized. */
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
	uint64_t newest_ns; /* no region in it was mapped or confirmed later */
	uint64_t stamp;	    /* of the measurement … */
	size_t cost;	    /* … that gave this */
	struct region regions[];
};

struct region_part {
	uint64_t start; /* of the chunk's first region */
	struct region_chunk *chunk;
};

struct region_table {
	uint32_t references;
	uint32_t count, room; /* of parts; no chunk is empty */
	size_t region_count;
	uint64_t stamp; /* as in struct region_chunk */
	size_t cost;
	struct region_part parts[];
};

/* Takes a reference, which region_table_release() gives back. */
struct region_table *region_table_share(struct region_table *table);
void region_table_release(struct region_table *table, struct region_account *account);

/* The last region that starts at or before pc, or NULL. This is the inner loop of unwinding. */
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

		/* Branchless, as below. */
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

/* A place in a table, valid until it changes. */
struct region_place {
	size_t part, index;
};

/* The place of the first region that ends after the address. */
struct region_place region_table_seek(const struct region_table *table, uint64_t address);
/*
 * The region at the place, which then moves on; NULL at the end.
 *
 *	struct region_place place = region_table_seek(table, start);
 *
 *	while ((region = region_table_next(table, &place)) && region->start < end)
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
 * Adds a region. Those that it overlaps lose the part that it covers, their offsets follow.
 */
void region_table_put(struct region_table **table, struct region_account *account,
		      const struct region *new);
/*
 * Changes the times of the region that starts at `start`, in this table alone. The table must have
 * it.
 */
void region_table_set_times(struct region_table **table, struct region_account *account,
			    uint64_t start, uint64_t from_ns, uint64_t confirmed_ns);
/* Drops the half of the chunks that did not change for longest; all if there is one. */
void region_table_halve(struct region_table **table, struct region_account *account);

struct region region_piece(const struct region *region, uint64_t start, uint64_t end);

#endif
