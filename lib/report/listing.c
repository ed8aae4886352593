#include "report/listing.h"

#include "base/alloc.h"

#include <stdlib.h>

struct builder {
	const struct view *view;
	struct listing *listing;
	struct idmap ids; /* of rows: by (file, line), or by (vaddr, module) */
	uint32_t *row_of_line;
};

static void builder_init(struct builder *builder, const struct view *view, struct listing *listing)
{
	uint32_t lines = view->labels.first_line[profile_frame_count(view->profile)];

	*builder = (struct builder){.view = view, .listing = listing};
	builder->row_of_line = xcalloc(lines, sizeof(*builder->row_of_line));
	for (uint32_t i = 0; i < lines; i++)
		builder->row_of_line[i] = TALLY_NO_ROW;
}

static void builder_deinit(struct builder *builder)
{
	idmap_deinit(&builder->ids);
	free(builder->row_of_line);
}

static uint32_t line_row(struct builder *builder, string_id file, uint32_t line)
{
	struct listing *listing = builder->listing;
	uint32_t *row = idmap_put(&builder->ids, file, line);

	if (*row == IDMAP_NONE) {
		*row = listing->line_count;
		GROW(listing->lines, listing->line_count, listing->line_room);
		listing->lines[listing->line_count++] = (struct listing_line){.file = file,
									      .line = line};
	}
	return *row;
}

/* labels have the lines of a frame outermost first. */
static void find_lines(struct builder *builder, const bool *chosen)
{
	const struct profile *profile = builder->view->profile;
	const struct labels *labels = &builder->view->labels;

	for (frame_id id = 0; id < profile_frame_count(profile); id++) {
		struct profile_frame frame = profile_get_frame(profile, id);
		uint32_t first = labels->first_line[id];

		for (uint32_t i = 0; i < labels->first_line[id + 1] - first; i++) {
			string_id file = 0;

			if (!chosen[labels->lines[first + i].label])
				continue;
			if (frame.line_count)
				file = profile_get_function(
					       profile,
					       frame.lines[frame.line_count - 1 - i].function)
					       ->file;
			builder->row_of_line[first + i] = line_row(builder, file,
								   labels->lines[first + i].line);
		}
	}
}

static uint32_t address_row(struct builder *builder, uint32_t module, frame_id frame)
{
	struct listing *listing = builder->listing;
	uint64_t vaddr = profile_frame_address(builder->view->profile, frame);
	uint32_t *row = idmap_put(&builder->ids, vaddr, module);

	if (*row == IDMAP_NONE) {
		*row = listing->address_count;
		GROW(listing->addresses, listing->address_count, listing->address_room);
		listing->addresses[listing->address_count++] =
			(struct listing_address){.module = module, .vaddr = vaddr, .frame = frame};
	}
	return *row;
}

static void find_addresses(struct builder *builder, const bool *chosen)
{
	const struct labels *labels = &builder->view->labels;
	uint32_t frames = profile_frame_count(builder->view->profile);

	for (frame_id id = 0; id < frames; id++) {
		uint32_t first = labels->first_line[id], row;

		if (!chosen[labels->lines[first].label])
			continue;
		row = address_row(builder, labels->items[labels->lines[first].label].module, id);
		for (uint32_t i = first; i < labels->first_line[id + 1]; i++)
			builder->row_of_line[i] = row;
	}
}

static int compare_lines(const void *a, const void *b)
{
	const struct listing_line *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct listing_address *left = a, *right = b;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static void list_lines(struct listing *listing, const struct view *view, const bool *chosen)
{
	CLEANUP(builder_deinit) struct builder builder;
	CLEANUP(free_ptr) struct tally *sums = NULL;

	builder_init(&builder, view, listing);
	find_lines(&builder, chosen);
	sums = tally_rows(view, builder.row_of_line, listing->line_count);
	for (uint32_t i = 0; i < listing->line_count; i++)
		listing->lines[i].sum = sums[i];
	if (listing->line_count)
		qsort(listing->lines, listing->line_count, sizeof(*listing->lines), compare_lines);
}

static void list_addresses(struct listing *listing, const struct view *view, const bool *chosen)
{
	CLEANUP(builder_deinit) struct builder builder;
	CLEANUP(free_ptr) struct tally *sums = NULL;

	builder_init(&builder, view, listing);
	find_addresses(&builder, chosen);
	sums = tally_rows(view, builder.row_of_line, listing->address_count);
	for (uint32_t i = 0; i < listing->address_count; i++)
		listing->addresses[i].sum = sums[i];
	if (listing->address_count)
		qsort(listing->addresses, listing->address_count, sizeof(*listing->addresses),
		      compare_addresses);
}

static void sum_up(struct listing *listing, const struct view *view, const bool *chosen)
{
	CLEANUP(builder_deinit) struct builder builder;
	const struct labels *labels = &view->labels;
	uint32_t lines = labels->first_line[profile_frame_count(view->profile)];
	CLEANUP(free_ptr) struct tally *sum = NULL;

	builder_init(&builder, view, listing);
	for (uint32_t i = 0; i < lines; i++)
		if (chosen[labels->lines[i].label])
			builder.row_of_line[i] = 0;
	sum = tally_rows(view, builder.row_of_line, 1);
	listing->all = *sum;
}

void listing_init(struct listing *listing, const struct view *view, const bool *chosen)
{
	*listing = (struct listing){0};
	sum_up(listing, view, chosen);
	list_lines(listing, view, chosen);
	list_addresses(listing, view, chosen);
}

void listing_deinit(struct listing *listing)
{
	free(listing->lines);
	free(listing->addresses);
	*listing = (struct listing){0};
}
