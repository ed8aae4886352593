#include "proc/copied_text.h"

#include "proc/timed_memory.h"

#include <string.h>
#include <unistd.h>

enum {
	/* Regions below a mapping that are searched for text. */
	LOOKED_AT_MAX = 64,
	/* Copies in a mapping. The rest is treated as memory. */
	COPIES_MAX = 16,
	/* The parts of a region that are compared. */
	PLACES = 9,
	PLACE_BYTES = 64,
	/* At least this many places must match for each that differs. */
	SAME_PER_OTHER = 3,
};

/* --- Earlier mappings ------------------------------------------------------------------------- */

static bool copied_text_is_text(const struct modules *modules, const struct region *region)
{
	const struct module *module = modules_get(modules, region->module);

	return module->kind == MODULE_FILE && module->elf;
}

static struct region copied_text_copy_of(const struct region *text, const struct region *memory)
{
	struct region copy = region_piece(text, memory->start, memory->end);

	copy.from_ns = memory->from_ns;
	copy.confirmed_ns = 0;
	copy.has_samples = false;
	copy.is_copy = true;
	return copy;
}

/*
 * Memory can replace text and other regions. Returns its first part, which is
 * either a copy of text or ordinary memory.
 */
static struct region first_part(const struct modules *modules, const struct regions *regions,
				const struct region *memory)
{
	struct region below;
	uint64_t at = memory->start;

	for (unsigned i = 0; i < LOOKED_AT_MAX && at < memory->end; i++) {
		if (!regions_next(regions, at, &below) || below.start >= memory->end)
			break;
		at = below.end;
		if (!copied_text_is_text(modules, &below) || below.from_ns > memory->from_ns)
			continue;
		return below.start <= memory->start
			       ? copied_text_copy_of(&below, memory)
			       : region_piece(memory, memory->start, below.start);
	}
	return *memory;
}

bool copied_text_may_be(const struct modules *modules, const struct region *region)
{
	const struct module *module = modules_get(modules, region->module);

	return module->kind == MODULE_JIT && !module->jitdump;
}

void copied_text_map(const struct modules *modules, struct regions *regions,
		     const struct region *memory, module_id program)
{
	struct region rest = *memory;

	for (unsigned i = 0; i <= COPIES_MAX && rest.start < rest.end; i++) {
		struct region part = rest;

		if (i < COPIES_MAX)
			part = first_part(modules, regions, &rest);
		part.is_certain = part.is_copy && part.module == program;
		regions_map(regions, &part);
		rest = region_piece(&rest, part.end, UINT64_MAX);
	}
}

/* --- Adjacent mappings ------------------------------------------------------------------------ */

static uint64_t page_start(uint64_t address)
{
	return address & ~((uint64_t)getpagesize() - 1);
}

static uint64_t copied_text_page_end(uint64_t address)
{
	return page_start(address + (uint64_t)getpagesize() - 1);
}

/*
 * Returns whether the mapping is in the segment's pages of the file. Linkers
 * let two segments share a page.
 */
static bool is_in_segment(const struct mapping *mapping, const struct elf_file_segment *segment,
			  bool is_whole)
{
	uint64_t first = page_start(segment->offset);
	uint64_t end = copied_text_page_end(segment->offset + segment->file_bytes);

	if (is_whole)
		return mapping->offset == first && mapping->end - mapping->start == end - first;
	return mapping->offset >= first && mapping->offset < end;
}

/* `bias` is added to a vaddr to get its pc. The sum may wrap around. */
static bool copied_text_find_text(const struct elf_file *elf, uint64_t bias,
				  const struct region *memory, struct region *ret)
{
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; i < count; i++) {
		const struct elf_file_segment *segment = &segments[i];
		const struct region text = {
			.start = page_start(segment->vaddr + bias),
			.end = copied_text_page_end(segment->vaddr + segment->file_bytes + bias),
			.offset = page_start(segment->offset),
		};

		if (!segment->executable || text.start >= memory->end || text.end <= memory->start)
			continue;
		*ret = copied_text_copy_of(&text, memory);
		return true;
	}
	return false;
}

/*
 * Finds the part of memory that is in an executable segment, given another
 * mapping of the file. Returns false if there is none.
 */
static bool copied_text_find_beside(const struct elf_file *elf, const struct mapping *neighbour,
				    const struct region *memory, struct region *ret)
{
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; i < 2 * count; i++) {
		const struct elf_file_segment *segment = &segments[i % count];
		uint64_t bias = neighbour->start - (page_start(segment->vaddr) + neighbour->offset -
						    page_start(segment->offset));

		if (is_in_segment(neighbour, segment, i < count) &&
		    copied_text_find_text(elf, bias, memory, ret))
			return true;
	}
	return false;
}

static bool is_beside(struct modules *modules, pid_t pid, const struct mapping *file,
		      const struct region *memory, struct region *ret)
{
	const struct module *module;
	module_id id;

	if (!file)
		return false;
	id = modules_of_mapping(modules, pid, file);
	module = modules_get(modules, id);
	if (module->kind != MODULE_FILE || !module->elf ||
	    !copied_text_find_beside(module->elf, file, memory, ret))
		return false;
	ret->module = id;
	return true;
}

static bool copied_text_is_same_text(const struct region *a, const struct region *b)
{
	return a->module == b->module && a->start == b->start && a->offset == b->offset;
}

/*
 * Memory with samples is already known. If both neighbours agree, the copy is
 * certain.
 */
bool copied_text_map_enclosed(struct modules *modules, struct regions *regions, pid_t pid,
			      const struct enclosed_memory *enclosed)
{
	struct region memory, before, after;
	bool is_before, is_after;

	if (!regions_next(regions, enclosed->start, &memory) || memory.start != enclosed->start ||
	    memory.end != enclosed->end || memory.has_samples ||
	    !copied_text_may_be(modules, &memory))
		return false;
	is_before = is_beside(modules, pid, enclosed->before, &memory, &before);
	is_after = is_beside(modules, pid, enclosed->after, &memory, &after);
	if (!is_before && !is_after)
		return false;
	if (!is_before)
		before = after;
	before.is_certain = is_before && is_after && copied_text_is_same_text(&before, &after);
	regions_map(regions, &before);
	return true;
}

/* --- Contents --------------------------------------------------------------------------------- */

struct place {
	unsigned char memory[PLACE_BYTES], file[PLACE_BYTES];
};

/* The first place is at pc, and the others are spread over the region. */
static uint64_t place_address(const struct region *region, uint64_t pc, size_t i)
{
	uint64_t len = region->end - region->start;
	uint64_t at = i ? region->start + len / (PLACES - 1) * (i - 1) : pc;

	return at / PLACE_BYTES * PLACE_BYTES;
}

/*
 * Unwritten memory and the padding between functions consist of one byte value.
 */
static bool copied_text_is_blank(const unsigned char *bytes)
{
	return memcmp(bytes, bytes + 1, PLACE_BYTES - 1) == 0;
}

static bool copied_text_read_file(const struct elf_file *elf, const struct region *region,
				  uint64_t pc, unsigned char *into)
{
	uint64_t vaddr;

	return elf_file_offset_to_vaddr(elf, region->offset + (pc - region->start), &vaddr) &&
	       elf_file_read(elf, vaddr, into, PLACE_BYTES);
}

enum copied_text copied_text_compare(const struct copied_text_process *process,
				     const struct elf_file *elf, const struct region *region,
				     uint64_t pc)
{
	struct place places[PLACES];
	struct memory_part parts[PLACES];
	unsigned same = 0, other = 0;

	for (size_t i = 0; i < PLACES; i++)
		parts[i] = (struct memory_part){.address = place_address(region, pc, i),
						.into = places[i].memory,
						.len = PLACE_BYTES};
	timed_memory_read(process->caller, process->proc, process->pid, process->user, parts,
			  PLACES);
	for (size_t i = 0; i < PLACES; i++) {
		if (!parts[i].is_read || copied_text_is_blank(places[i].memory) ||
		    !copied_text_read_file(elf, region, parts[i].address, places[i].file))
			continue;
		if (memcmp(places[i].memory, places[i].file, PLACE_BYTES) == 0)
			same++;
		else
			other++;
	}
	if (!same && !other)
		return COPIED_TEXT_UNKNOWN;
	return same >= SAME_PER_OTHER * other ? COPIED_TEXT_SAME : COPIED_TEXT_OTHER;
}
