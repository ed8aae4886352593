#include "format/pprof/mapping.h"

#include "base/alloc.h"

#include <stdlib.h>

#define PAGE_MASK UINT64_C(0xfff)

/* All modules without a description share the last element. */
static uint32_t module_index(const struct profile *profile, uint32_t module)
{
	uint32_t count = profile_module_count(profile);

	return module < count ? module : count;
}

static uint64_t mapping_page_end(uint64_t last)
{
	return (last | PAGE_MASK) < UINT64_MAX ? (last | PAGE_MASK) + 1 : UINT64_MAX;
}

/*
 * Returns the pages that the segment is loaded into. pprof does not symbolize
 * mappings that are not page-aligned.
 */
static struct pprof_mapping place_of_segment(uint32_t module, const struct profile_segment *segment)
{
	uint64_t in_page = segment->vaddr & PAGE_MASK;

	return (struct pprof_mapping){
		.module = module,
		.start = segment->vaddr - in_page,
		.limit = mapping_page_end(segment->vaddr + segment->size_bytes - 1),
		.offset = segment->offset > in_page ? segment->offset - in_page : 0,
	};
}

static bool is_placed(const struct profile *profile, frame_id frame)
{
	uint32_t module = profile_get_frame(profile, frame).module;
	enum profile_module_kind kind = profile_get_module(profile, module)->kind;

	return kind != PROFILE_MODULE_SYNTHETIC && kind != PROFILE_MODULE_NONE;
}

static uint32_t make_places(struct pprof_mappings *mappings, const struct profile *profile)
{
	uint32_t modules = profile_module_count(profile) + 1, count = 0;

	mappings->first_place = xcalloc(modules, sizeof(*mappings->first_place));
	for (uint32_t i = 0; i < modules; i++) {
		mappings->first_place[i] = count;
		count += profile_get_module(profile, i)->segment_count + 1;
	}
	mappings->places = xcalloc(count, sizeof(*mappings->places));
	mappings->in_order = xcalloc(count, sizeof(*mappings->in_order));
	for (uint32_t i = 0; i < modules; i++) {
		const struct profile_module *module = profile_get_module(profile, i);
		struct pprof_mapping *place = &mappings->places[mappings->first_place[i]];

		for (unsigned s = 0; s < module->segment_count; s++, place++)
			*place = place_of_segment(i, &module->segments[s]);
		*place = (struct pprof_mapping){.module = i, .start = UINT64_MAX};
	}
	return count;
}

static struct pprof_mapping *mapping_place_of(const struct pprof_mappings *mappings,
					      const struct profile *profile, frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	const struct profile_module *module = profile_get_module(profile, frame.module);
	uint64_t offset = frame.offset - frame.is_return_address;
	unsigned segment = 0;

	while (segment < module->segment_count &&
	       offset - module->segments[segment].offset >= module->segments[segment].size_bytes)
		segment++;
	return &mappings->places[mappings->first_place[module_index(profile, frame.module)] +
				 segment];
}

/*
 * Segments contain their frames. The mapping for other frames, whose address is
 * their offset, is extended to the pages in use.
 */
static void cover(struct pprof_mapping *place, uint64_t address)
{
	if (address < place->start)
		place->start = place->offset = address & ~PAGE_MASK;
	if (address >= place->limit)
		place->limit = mapping_page_end(address);
}

static void use_lines(struct pprof_mapping *place, const struct profile *profile, frame_id id)
{
	struct profile_frame frame = profile_get_frame(profile, id);

	place->has_functions |= frame.line_count > 0;
	place->has_inline_frames |= frame.line_count > 1;
	for (unsigned i = 0; i < frame.line_count; i++) {
		place->has_line_numbers |= frame.lines[i].line > 0;
		place->has_filenames |=
			profile_get_function(profile, frame.lines[i].function)->file != 0;
	}
}

static void use_places(struct pprof_mappings *mappings, const struct profile *profile)
{
	for (frame_id i = 0; i < profile_frame_count(profile); i++) {
		struct pprof_mapping *place;

		if (!is_placed(profile, i))
			continue;
		place = mapping_place_of(mappings, profile, i);
		place->is_used = true;
		cover(place, pprof_address(profile, i));
		use_lines(place, profile, i);
	}
}

static void number_places(struct pprof_mappings *mappings, const struct profile *profile,
			  uint32_t count, bool main)
{
	for (uint32_t i = 0; i < count; i++) {
		struct pprof_mapping *place = &mappings->places[i];
		const struct profile_module *module = profile_get_module(profile, place->module);

		if (module->is_main != main || place->start >= place->limit)
			continue;
		if (!place->is_used && !main)
			continue;
		mappings->in_order[mappings->count++] = i;
		place->id = mappings->count;
	}
}

void pprof_mappings_init(struct pprof_mappings *mappings, const struct profile *profile)
{
	uint32_t count;

	*mappings = (struct pprof_mappings){0};
	count = make_places(mappings, profile);
	use_places(mappings, profile);
	number_places(mappings, profile, count, true);
	number_places(mappings, profile, count, false);
}

void pprof_mappings_deinit(struct pprof_mappings *mappings)
{
	free(mappings->places);
	free(mappings->first_place);
	free(mappings->in_order);
}

const struct pprof_mapping *pprof_mapping_of(const struct pprof_mappings *mappings,
					     const struct profile *profile, frame_id frame)
{
	if (!is_placed(profile, frame))
		return NULL;
	return mapping_place_of(mappings, profile, frame);
}

uint64_t pprof_address(const struct profile *profile, frame_id frame)
{
	uint64_t address = profile_frame_address(profile, frame);

	/*
	 * No mapping can contain the last byte of the address space, because
	 * its limit would be 0.
	 */
	return address < UINT64_MAX ? address : UINT64_MAX - 1;
}
