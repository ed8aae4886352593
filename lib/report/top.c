#include "report/top.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <stdlib.h>
#include <string.h>

/* Set in the module of a row that stands for an address. Modules are dense: none has this bit. */
#define ROW_OF_ADDRESS (1u << 31)

struct builder {
	const struct profile *profile;
	struct top *top;
	size_t row_room, made_room;
	struct idmap row_ids; /* by (name or address, module) */
	uint32_t *rows;	      /* of the lines of all frames, innermost first … */
	uint32_t *first_row;  /* … those of frame i from here to first_row[i + 1] */
	uint64_t *weights;    /* by stack: of its samples, and of those of the stacks above it */
	stack_id *first_child, *next_sibling;
	uint32_t *on_path; /* by row: how often it is in the stack where the walk is */
};

static uint32_t add_row(struct builder *builder, const char *name, uint32_t module)
{
	struct top *top = builder->top;

	GROW(top->rows, top->count, builder->row_room);
	top->rows[top->count] = (struct top_row){.name = name, .module = module};
	return (uint32_t)top->count++;
}

static uint32_t row_of_function(struct builder *builder, uint32_t module, function_id id)
{
	string_id name = profile_get_function(builder->profile, id)->name;
	uint32_t *row = idmap_put(&builder->row_ids, name, module);

	if (*row == IDMAP_NONE)
		*row = add_row(builder, profile_string(builder->profile, name), module);
	return *row;
}

static uint32_t row_of_address(struct builder *builder, uint32_t module, frame_id frame)
{
	uint64_t address = profile_frame_address(builder->profile, frame);
	uint32_t *row = idmap_put(&builder->row_ids, address, module | ROW_OF_ADDRESS);
	struct top *top = builder->top;

	if (*row == IDMAP_NONE) {
		GROW(top->made_names, top->made_count, builder->made_room);
		top->made_names[top->made_count] = profile_frame_address_name(builder->profile,
									      frame);
		*row = add_row(builder, top->made_names[top->made_count++], module);
	}
	return *row;
}

static void find_rows(struct builder *builder)
{
	uint32_t frames = profile_frame_count(builder->profile);
	size_t count = 0, room = 0;

	builder->first_row = xcalloc((size_t)frames + 1, sizeof(*builder->first_row));
	for (frame_id i = 0; i < frames; i++) {
		struct profile_frame frame = profile_get_frame(builder->profile, i);

		for (unsigned line = 0; line < frame.line_count; line++) {
			GROW(builder->rows, count, room);
			builder->rows[count++] = row_of_function(builder, frame.module,
								 frame.lines[line].function);
		}
		if (!frame.line_count) {
			GROW(builder->rows, count, room);
			builder->rows[count++] = row_of_address(builder, frame.module, i);
		}
		builder->first_row[i + 1] = (uint32_t)count;
	}
}

static void add_samples(struct builder *builder, event_id event)
{
	for (uint64_t i = 0; i < profile_cell_count(builder->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(builder->profile, i);
		frame_id leaf = profile_get_stack(builder->profile, cell->stack).frame;

		if (cell->event != event)
			continue;
		builder->top->weight += cell->weight;
		builder->weights[cell->stack] += cell->weight;
		if (cell->stack != STACK_EMPTY)
			builder->top->rows[builder->rows[builder->first_row[leaf]]].self +=
				cell->weight;
	}
}

/* A parent's id is below its children's: from the last to the first all is added up. */
static void add_up_weights(struct builder *builder)
{
	for (stack_id i = profile_stack_count(builder->profile); i-- > 1;) {
		stack_id parent = profile_get_stack(builder->profile, i).parent;

		if (!builder->weights[i])
			continue;
		builder->weights[parent] += builder->weights[i];
		builder->next_sibling[i] = builder->first_child[parent];
		builder->first_child[parent] = i;
	}
}

/* A row's total grows only where it is not in the stack already: recursion counts once. */
static void enter(struct builder *builder, stack_id stack)
{
	frame_id frame = profile_get_stack(builder->profile, stack).frame;

	for (uint32_t i = builder->first_row[frame]; i < builder->first_row[frame + 1]; i++)
		if (!builder->on_path[builder->rows[i]]++)
			builder->top->rows[builder->rows[i]].total += builder->weights[stack];
}

static void leave(struct builder *builder, stack_id stack)
{
	frame_id frame = profile_get_stack(builder->profile, stack).frame;

	for (uint32_t i = builder->first_row[frame]; i < builder->first_row[frame + 1]; i++)
		builder->on_path[builder->rows[i]]--;
}

/* Leaves this stack, and its callers as long as they have no more children. */
static stack_id leave_for_next(struct builder *builder, stack_id stack)
{
	for (; stack; stack = profile_get_stack(builder->profile, stack).parent) {
		leave(builder, stack);
		if (builder->next_sibling[stack])
			return builder->next_sibling[stack];
	}
	return STACK_EMPTY;
}

static void walk(struct builder *builder)
{
	stack_id at = builder->first_child[STACK_EMPTY];

	while (at) {
		enter(builder, at);
		at = builder->first_child[at] ? builder->first_child[at]
					      : leave_for_next(builder, at);
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct top_row *left = a, *right = b;
	int order;

	if (left->self != right->self)
		return left->self < right->self ? 1 : -1;
	if (left->total != right->total)
		return left->total < right->total ? 1 : -1;
	order = strcmp(left->name, right->name);
	return order ? order : (left->module > right->module) - (left->module < right->module);
}

static void sort_rows(struct top *top)
{
	size_t count = 0;

	for (size_t i = 0; i < top->count; i++)
		if (top->rows[i].total)
			top->rows[count++] = top->rows[i];
	top->count = count;
	if (count)
		qsort(top->rows, count, sizeof(*top->rows), compare_rows);
}

static void builder_deinit(struct builder *builder)
{
	idmap_deinit(&builder->row_ids);
	free(builder->rows);
	free(builder->first_row);
	free(builder->weights);
	free(builder->first_child);
	free(builder->next_sibling);
	free(builder->on_path);
}

void top_init(struct top *top, const struct profile *profile, event_id event)
{
	CLEANUP(builder_deinit) struct builder builder = {.profile = profile, .top = top};
	uint32_t stacks = profile_stack_count(profile);

	*top = (struct top){0};
	find_rows(&builder);
	builder.weights = xcalloc(stacks, sizeof(*builder.weights));
	builder.first_child = xcalloc(stacks, sizeof(*builder.first_child));
	builder.next_sibling = xcalloc(stacks, sizeof(*builder.next_sibling));
	builder.on_path = xcalloc(top->count, sizeof(*builder.on_path));
	add_samples(&builder, event);
	add_up_weights(&builder);
	walk(&builder);
	sort_rows(top);
}

void top_deinit(struct top *top)
{
	for (size_t i = 0; i < top->made_count; i++)
		free(top->made_names[i]);
	free(top->made_names);
	free(top->rows);
	*top = (struct top){0};
}
