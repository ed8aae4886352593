#include "proc/copied_text.h"

#include "proc/timed_memory.h"

#include <string.h>
#include <unistd.h>

enum {
	/* Regions below a mapping among which text is looked for. */
	LOOKED_AT_MAX = 64,
	/* Copies in a mapping. What is left then is memory. */
	COPIES_MAX = 16,
	/* What is compared of a region. */
	PLACES = 9,
	PLACE_BYTES = 64,
	/* So many places must be the same for one that differs. */
	SAME_PER_OTHER = 3,
};

/* --- What was mapped before ------------------------------------------------------------------ */

static bool is_text(const struct modules *modules, const struct region *region)
{
	const struct module *module = modules_get(modules, region->module);

	return module->kind == MODULE_FILE && module->elf;
}

static struct region copy_of(const struct region *text, const struct region *memory)
{
	struct region copy = region_piece(text, memory->start, memory->end);

	copy.from_ns = memory->from_ns;
	copy.confirmed_ns = 0;
	copy.has_samples = false;
	copy.is_copy = true;
	return copy;
}

/*
 * Memory that replaces what the regions have now consists of parts that were text and others.
 * Returns the first part, from the start of memory.
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
		if (!is_text(modules, &below) || below.from_ns > memory->from_ns)
			continue;
		return below.start <= memory->start
			       ? copy_of(&below, memory)
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

/* --- What is mapped beside it ---------------------------------------------------------------- */

static uint64_t page_start(uint64_t address)
{
	return address & ~((uint64_t)getpagesize() - 1);
}

static uint64_t page_end(uint64_t address)
{
	return page_start(address + (uint64_t)getpagesize() - 1);
}

/* Where the segment's pages are in the file. Linkers let two segments share a page. */
static bool is_in_segment(const struct mapping *mapping, const struct elf_file_segment *segment,
			  bool is_whole)
{
	uint64_t first = page_start(segment->offset);
	uint64_t end = page_end(segment->offset + segment->file_bytes);

	if (is_whole)
		return mapping->offset == first && mapping->end - mapping->start == end - first;
	return mapping->offset >= first && mapping->offset < end;
}

/* bias: what is added to a vaddr for its pc; may wrap around. */
static bool find_text(const struct elf_file *elf, uint64_t bias, const struct region *memory,
		      struct region *ret)
{
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; i < count; i++) {
		const struct elf_file_segment *segment = &segments[i];
		const struct region text = {
			.start = page_start(segment->vaddr + bias),
			.end = page_end(segment->vaddr + segment->file_bytes + bias),
			.offset = page_start(segment->offset),
		};

		if (!segment->executable || text.start >= memory->end || text.end <= memory->start)
			continue;
		*ret = copy_of(&text, memory);
		return true;
	}
	return false;
}

/*
 * The part of memory that is in an executable segment, where another mapping of the file is known.
 * False: none is.
 */
static bool find_beside(const struct elf_file *elf, const struct mapping *neighbour,
			const struct region *memory, struct region *ret)
{
	unsigned count;
	const struct elf_file_segment *segments = elf_file_segments(elf, &count);

	for (unsigned i = 0; i < 2 * count; i++) {
		const struct elf_file_segment *segment = &segments[i % count];
		uint64_t bias = neighbour->start - (page_start(segment->vaddr) + neighbour->offset -
						    page_start(segment->offset));

		if (is_in_segment(neighbour, segment, i < count) &&
		    find_text(elf, bias, memory, ret))
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
	    !find_beside(module->elf, file, memory, ret))
		return false;
	ret->module = id;
	return true;
}

static bool is_same_text(const struct region *a, const struct region *b)
{
	return a->module == b->module && a->start == b->start && a->offset == b->offset;
}

/* Memory that has samples is known. Where both neighbours say the same, it is certain. */
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
	before.is_certain = is_before && is_after && is_same_text(&before, &after);
	regions_map(regions, &before);
	return true;
}

/* --- What is in it --------------------------------------------------------------------------- */

struct place {
	unsigned char memory[PLACE_BYTES], file[PLACE_BYTES];
};

/* The first one at pc, the others all over the region. */
static uint64_t place_address(const struct region *region, uint64_t pc, size_t i)
{
	uint64_t len = region->end - region->start;
	uint64_t at = i ? region->start + len / (PLACES - 1) * (i - 1) : pc;

	return at / PLACE_BYTES * PLACE_BYTES;
}

/* As memory that has not been written yet, and what is between functions. */
static bool is_blank(const unsigned char *bytes)
{
	return memcmp(bytes, bytes + 1, PLACE_BYTES - 1) == 0;
}

static bool read_file(const struct elf_file *elf, const struct region *region, uint64_t pc,
		      unsigned char *into)
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
		if (!parts[i].is_read || is_blank(places[i].memory) ||
		    !read_file(elf, region, parts[i].address, places[i].file))
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
