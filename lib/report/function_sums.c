#include "report/function_sums.h"

#include "base/alloc.h"

#include <stdlib.h>

struct function_sums_builder {
	const struct view *view;
	struct function_sums *sums;
	struct idmap ids; /* ids of rows by (file, line), or by (vaddr, module) */
	uint32_t *row_of_line;
};

static void builder_init(struct function_sums_builder *builder, const struct view *view,
			 struct function_sums *sums)
{
	uint32_t lines = view->labels.first_line[profile_frame_count(view->profile)];

	*builder = (struct function_sums_builder){.view = view, .sums = sums};
	builder->row_of_line = xcalloc(lines, sizeof(*builder->row_of_line));
	for (uint32_t i = 0; i < lines; i++)
		builder->row_of_line[i] = TALLY_NO_ROW;
}

static void function_sums_builder_deinit(struct function_sums_builder *builder)
{
	idmap_deinit(&builder->ids);
	free(builder->row_of_line);
}

static uint32_t line_row(struct function_sums_builder *builder, string_id file, uint32_t line)
{
	struct function_sums *sums = builder->sums;
	uint32_t *row = idmap_put(&builder->ids, file, line);

	if (*row == IDMAP_NONE) {
		*row = sums->line_count;
		GROW(sums->lines, sums->line_count, sums->line_room);
		sums->lines[sums->line_count++] = (struct line_sum){.file = file, .line = line};
	}
	return *row;
}

/*
 * The labels of a frame are ordered outermost first, its lines innermost first.
 */
static void function_sums_find_lines(struct function_sums_builder *builder, const bool *chosen)
{
	const struct profile *profile = builder->view->profile;
	const struct display_labels *labels = &builder->view->labels;

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

static uint32_t address_row(struct function_sums_builder *builder, uint32_t module, frame_id frame)
{
	struct function_sums *sums = builder->sums;
	uint64_t vaddr = profile_frame_address(builder->view->profile, frame);
	uint32_t *row = idmap_put(&builder->ids, vaddr, module);

	if (*row == IDMAP_NONE) {
		*row = sums->address_count;
		GROW(sums->addresses, sums->address_count, sums->address_room);
		sums->addresses[sums->address_count++] =
			(struct address_sum){.module = module, .vaddr = vaddr, .frame = frame};
	}
	return *row;
}

static void find_addresses(struct function_sums_builder *builder, const bool *chosen)
{
	const struct display_labels *labels = &builder->view->labels;
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

static int function_sums_compare_lines(const void *a, const void *b)
{
	const struct line_sum *left = a, *right = b;

	if (left->file != right->file)
		return left->file < right->file ? -1 : 1;
	return (left->line > right->line) - (left->line < right->line);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct address_sum *left = a, *right = b;

	if (left->module != right->module)
		return left->module < right->module ? -1 : 1;
	return (left->vaddr > right->vaddr) - (left->vaddr < right->vaddr);
}

static void list_lines(struct function_sums *sums, const struct view *view, const bool *chosen)
{
	CLEANUP(function_sums_builder_deinit) struct function_sums_builder builder;
	CLEANUP(free_ptr) struct tally *tallies = NULL;

	builder_init(&builder, view, sums);
	function_sums_find_lines(&builder, chosen);
	tallies = tally_rows(view, builder.row_of_line, sums->line_count);
	for (uint32_t i = 0; i < sums->line_count; i++)
		sums->lines[i].sum = tallies[i];
	if (sums->line_count)
		qsort(sums->lines, sums->line_count, sizeof(*sums->lines),
		      function_sums_compare_lines);
}

static void list_addresses(struct function_sums *sums, const struct view *view, const bool *chosen)
{
	CLEANUP(function_sums_builder_deinit) struct function_sums_builder builder;
	CLEANUP(free_ptr) struct tally *tallies = NULL;

	builder_init(&builder, view, sums);
	find_addresses(&builder, chosen);
	tallies = tally_rows(view, builder.row_of_line, sums->address_count);
	for (uint32_t i = 0; i < sums->address_count; i++)
		sums->addresses[i].sum = tallies[i];
	if (sums->address_count)
		qsort(sums->addresses, sums->address_count, sizeof(*sums->addresses),
		      compare_addresses);
}

static void function_sums_sum_up(struct function_sums *sums, const struct view *view,
				 const bool *chosen)
{
	CLEANUP(function_sums_builder_deinit) struct function_sums_builder builder;
	const struct display_labels *labels = &view->labels;
	uint32_t lines = labels->first_line[profile_frame_count(view->profile)];
	CLEANUP(free_ptr) struct tally *sum = NULL;

	builder_init(&builder, view, sums);
	for (uint32_t i = 0; i < lines; i++)
		if (chosen[labels->lines[i].label])
			builder.row_of_line[i] = 0;
	sum = tally_rows(view, builder.row_of_line, 1);
	sums->all = *sum;
}

void function_sums_init(struct function_sums *sums, const struct view *view, const bool *chosen)
{
	*sums = (struct function_sums){0};
	function_sums_sum_up(sums, view, chosen);
	list_lines(sums, view, chosen);
	list_addresses(sums, view, chosen);
}

void function_sums_deinit(struct function_sums *sums)
{
	free(sums->lines);
	free(sums->addresses);
	*sums = (struct function_sums){0};
}
