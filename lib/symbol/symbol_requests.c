#include "symbol/symbol_requests.h"

#include "base/alloc.h"

/* A frame to symbolize. */
struct symbol_requests_target {
	uint64_t address; /* a vaddr for files */
	uint32_t module;
	frame_id frame;
};

struct targets {
	struct symbol_requests_target *items;
	size_t count, room;
};

/* The position of a frame's lines. */
struct symbol_request_place {
	uint32_t request, address;
};

#define NO_REQUEST UINT32_MAX

static bool symbol_requests_is_complete(const struct profile_frame *frame,
					const struct module *module, bool with_lines)
{
	if (!frame->line_count)
		return false;
	return frame->is_named || frame->lines[0].line || !with_lines ||
	       module->kind != MODULE_FILE;
}

/* Returns false if no source can symbolize the frame. */
static bool symbol_requests_target_of(const struct profile *profile,
				      const struct address_spaces *spaces, frame_id id,
				      bool with_lines, struct symbol_requests_target *ret)
{
	struct profile_frame frame = profile_get_frame(profile, id);
	uint64_t offset = frame.offset - frame.is_return_address;
	const struct module *module;

	/*
	 * Synthetic frames already have lines, and their module does not belong
	 * to a process.
	 */
	if (frame.module >= address_spaces_module_count(spaces))
		return false;
	module = address_spaces_module(spaces, frame.module);
	if (symbol_requests_is_complete(&frame, module, with_lines))
		return false;
	*ret = (struct symbol_requests_target){
		.address = offset, .module = frame.module, .frame = id};
	if (module->elf && offset & LOCATION_DATA) {
		ret->address = offset & ~LOCATION_DATA;
		return true;
	}
	/* A module without an ELF file reports the reason later. */
	return !module->elf || elf_file_offset_to_vaddr(module->elf, offset, &ret->address);
}

static int symbol_requests_compare_targets(const void *left, const void *right)
{
	const struct symbol_requests_target *a = left, *b = right;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static struct symbol_request *symbol_request_of_module(struct symbol_requests *requests,
						       uint32_t module)
{
	if (!requests->count || requests->items[requests->count - 1].module != module) {
		GROW(requests->items, requests->count, requests->room);
		requests->items[requests->count++] = (struct symbol_request){.module = module};
	}
	return &requests->items[requests->count - 1];
}

/*
 * Adds an address without duplicates. It can be a return address in one frame
 * and a pc in another.
 */
static void symbol_requests_ask(struct symbol_requests *requests,
				const struct symbol_requests_target *target)
{
	struct symbol_request *request = symbol_request_of_module(requests, target->module);

	if (!request->count || request->addresses[request->count - 1] != target->address) {
		GROW(request->addresses, request->count, request->room);
		request->addresses[request->count++] = target->address;
	}
	request->frames++;
	requests->places[target->frame - requests->begin] = (struct symbol_request_place){
		.request = (uint32_t)(request - requests->items),
		.address = (uint32_t)(request->count - 1),
	};
}

void symbol_requests_init(struct symbol_requests *requests, const struct profile *profile,
			  const struct address_spaces *spaces, frame_id begin, bool with_lines)
{
	frame_id end = profile_frame_count(profile);
	struct targets targets = {0};

	*requests = (struct symbol_requests){.begin = begin, .end = end};
	requests->places = xcalloc(end - begin, sizeof(*requests->places));
	for (frame_id id = begin; id < end; id++) {
		struct symbol_requests_target target;

		requests->places[id - begin].request = NO_REQUEST;
		if (!symbol_requests_target_of(profile, spaces, id, with_lines, &target))
			continue;
		GROW(targets.items, targets.count, targets.room);
		targets.items[targets.count++] = target;
	}
	if (targets.count)
		qsort(targets.items, targets.count, sizeof(*targets.items),
		      symbol_requests_compare_targets);
	for (size_t i = 0; i < targets.count; i++)
		symbol_requests_ask(requests, &targets.items[i]);
	free(targets.items);
}

void symbol_requests_deinit(struct symbol_requests *requests)
{
	for (size_t i = 0; i < requests->count; i++)
		symbol_request_deinit(&requests->items[i]);
	free(requests->items);
	free(requests->places);
	*requests = (struct symbol_requests){0};
}

struct symbol_request *symbol_requests_of_frame(const struct symbol_requests *requests,
						frame_id frame, uint32_t *address)
{
	struct symbol_request_place place;

	if (frame < requests->begin || frame >= requests->end)
		return NULL;
	place = requests->places[frame - requests->begin];
	*address = place.address;
	return place.request == NO_REQUEST ? NULL : &requests->items[place.request];
}

void symbol_requests_give(struct symbol_requests *requests, struct profile *profile)
{
	for (size_t i = 0; i < requests->count; i++)
		symbol_request_begin_giving(&requests->items[i]);
	for (frame_id id = requests->begin; id < requests->end; id++) {
		uint32_t address;
		struct symbol_request *request = symbol_requests_of_frame(requests, id, &address);

		if (request)
			symbol_request_give(request, address, profile, id);
	}
}
