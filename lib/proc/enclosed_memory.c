#include "proc/enclosed_memory.h"

static bool enclosed_memory_is_file(const struct mapping *mapping)
{
	return mapping->path[0] == '/' && mapping->inode && !mapping_is_of_memory(mapping->path);
}

static bool enclosed_memory_is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor;
}

static void keep_as_before(struct enclosed_scan *scan, const struct mapping *mapping)
{
	scan->before = *mapping;
	scan->before.path = strcpy(scan->path, mapping->path);
	scan->has_before = true;
}

/* Reads up to a file after memory, or to the end. Returns false at the end. */
static bool read_on(struct enclosed_scan *scan)
{
	struct mapping mapping;

	if (scan->has_after)
		keep_as_before(scan, &scan->after);
	scan->has_after = false;
	scan->count = scan->given = 0;
	while (!scan->has_after && maps_next(&scan->maps, &mapping)) {
		if (enclosed_memory_is_file(&mapping) && scan->count) {
			scan->after = mapping;
			scan->has_after = true;
		} else if (enclosed_memory_is_file(&mapping)) {
			keep_as_before(scan, &mapping);
		} else if (scan->maps.executable && scan->count < ENCLOSED_MAX) {
			scan->found[scan->count++] = (struct enclosed_memory){
				.start = mapping.start, .end = mapping.end};
		}
	}
	return scan->count;
}

static bool is_enclosed(const struct enclosed_scan *scan, const struct enclosed_memory *memory)
{
	return (scan->has_before && scan->before.end == memory->start) ||
	       (scan->has_after && scan->after.start == memory->end) ||
	       (scan->has_before && scan->has_after &&
		enclosed_memory_is_same_file(&scan->before, &scan->after));
}

bool enclosed_memory_next(struct enclosed_scan *scan, struct enclosed_memory *ret)
{
	do {
		while (scan->given < scan->count) {
			*ret = scan->found[scan->given++];
			ret->before = scan->has_before ? &scan->before : NULL;
			ret->after = scan->has_after ? &scan->after : NULL;
			if (is_enclosed(scan, ret))
				return true;
		}
	} while (read_on(scan));
	return false;
}
