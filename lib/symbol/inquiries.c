#include "symbol/inquiries.h"

#include "base/alloc.h"

/* A frame to symbolize. */
struct target {
	uint64_t address; /* a vaddr in files */
	uint32_t module;
	frame_id frame;
};

struct targets {
	struct target *items;
	size_t count, room;
};

/* Where a frame's lines are. */
struct inquiry_place {
	uint32_t inquiry, address;
};

#define NOWHERE UINT32_MAX

static bool is_complete(const struct profile_frame *frame, const struct module *module,
			bool with_lines)
{
	if (!frame->line_count)
		return false;
	return frame->is_named || frame->lines[0].line || !with_lines ||
	       module->kind != MODULE_FILE;
}

/* Returns false if no source can symbolize the frame. */
static bool target_of(const struct profile *profile, const struct address_spaces *spaces,
		      frame_id id, bool with_lines, struct target *ret)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	uint64_t offset = frame.offset - frame.is_return_address;
	const struct module *module;

	/* Synthetic frames have lines and a module that belongs to no process. */
	if (frame.module >= address_spaces_module_count(spaces))
		return false;
	module = address_spaces_module(spaces, frame.module);
	if (is_complete(&frame, module, with_lines))
		return false;
	*ret = (struct target){.address = offset, .module = frame.module, .frame = id};
	if (module->elf && offset & LOCATION_DATA) {
		ret->address = offset & ~LOCATION_DATA;
		return true;
	}
	/* A module without an ELF file reports why there is none. */
	return !module->elf || elf_file_offset_to_vaddr(module->elf, offset, &ret->address);
}

static int compare_targets(const void *left, const void *right)
{
	const struct target *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static struct inquiry *inquiry_of_module(struct inquiries *inquiries, uint32_t module)
{
	if (!inquiries->count || inquiries->items[inquiries->count - 1].module != module) {
		GROW(inquiries->items, inquiries->count, inquiries->room);
		inquiries->items[inquiries->count++] = (struct inquiry){.module = module};
	}
	return &inquiries->items[inquiries->count - 1];
}

/* An address is asked for once: it can be a return address in one frame and a pc in another. */
static void ask(struct inquiries *inquiries, const struct target *target)
{
	struct inquiry *inquiry = inquiry_of_module(inquiries, target->module);

	if (!inquiry->count || inquiry->addresses[inquiry->count - 1] != target->address) {
		GROW(inquiry->addresses, inquiry->count, inquiry->room);
		inquiry->addresses[inquiry->count++] = target->address;
	}
	inquiry->frames++;
	inquiries->places[target->frame - inquiries->begin] = (struct inquiry_place){
		.inquiry = (uint32_t)(inquiry - inquiries->items),
		.address = (uint32_t)(inquiry->count - 1),
	};
}

void inquiries_init(struct inquiries *inquiries, const struct profile *profile,
		    const struct address_spaces *spaces, frame_id begin, bool with_lines)
{
	frame_id end = profile_frame_count(profile);
	struct targets targets = {0};

	*inquiries = (struct inquiries){.begin = begin, .end = end};
	inquiries->places = xcalloc(end - begin, sizeof(*inquiries->places));
	for (frame_id id = begin; id < end; id++) {
		struct target target;

		inquiries->places[id - begin].inquiry = NOWHERE;
		if (!target_of(profile, spaces, id, with_lines, &target))
			continue;
		GROW(targets.items, targets.count, targets.room);
		targets.items[targets.count++] = target;
	}
	if (targets.count)
		qsort(targets.items, targets.count, sizeof(*targets.items), compare_targets);
	for (size_t i = 0; i < targets.count; i++)
		ask(inquiries, &targets.items[i]);
	free(targets.items);
}

void inquiries_deinit(struct inquiries *inquiries)
{
	for (size_t i = 0; i < inquiries->count; i++)
		inquiry_deinit(&inquiries->items[i]);
	free(inquiries->items);
	free(inquiries->places);
	*inquiries = (struct inquiries){0};
}

struct inquiry *inquiries_of_frame(const struct inquiries *inquiries, frame_id frame,
				   uint32_t *address)
{
	struct inquiry_place place;

	if (frame < inquiries->begin || frame >= inquiries->end)
		return NULL;
	place = inquiries->places[frame - inquiries->begin];
	*address = place.address;
	return place.inquiry == NOWHERE ? NULL : &inquiries->items[place.inquiry];
}

void inquiries_give(struct inquiries *inquiries, struct profile *profile)
{
	for (size_t i = 0; i < inquiries->count; i++)
		inquiry_begin_giving(&inquiries->items[i]);
	for (frame_id id = inquiries->begin; id < inquiries->end; id++) {
		uint32_t address;
		struct inquiry *inquiry = inquiries_of_frame(inquiries, id, &address);

		if (inquiry)
			inquiry_give(inquiry, address, profile, id);
	}
}
