#include "proc/copied_text.h"

#include "proc/timed_memory.h"

#include <string.h>
#include <unistd.h>

enum {
	/* Regions below a mapping among which text is looked for. */
	LOOKED_AT_MAX = 64,
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

struct region copied_text_first(const struct modules *modules, const struct regions *regions,
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

bool copied_text_beside(const struct elf_file *elf, const struct mapping *neighbour,
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
