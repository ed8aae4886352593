#include "report/top.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	const struct profile *profile;
	struct top *top;   /* its rows are by label, for now */
	uint64_t *weights; /* by stack: of its samples, and of those of the stacks above it */
	stack_id *first_child, *next_sibling;
	uint32_t *on_path; /* by label: how often it is in the stack where the walk is */
};

static void make_rows(struct top *top)
{
	top->count = top->labels.count;
	top->rows = xcalloc(top->count, sizeof(*top->rows));
	for (uint32_t i = 0; i < top->count; i++)
		top->rows[i] = (struct top_row){
			.name = top->labels.items[i].name,
			.label = i,
			.module = top->labels.items[i].module,
		};
}

static void add_samples(struct builder *builder, event_id event)
{
	const struct labels *labels = &builder->top->labels;

	for (uint64_t i = 0; i < profile_cell_count(builder->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(builder->profile, i);
		frame_id leaf = profile_get_stack(builder->profile, cell->stack).frame;

		if (cell->event != event)
			continue;
		builder->top->weight += cell->weight;
		builder->weights[cell->stack] += cell->weight;
		if (cell->stack != STACK_EMPTY)
			builder->top->rows[labels->lines[labels->first_line[leaf + 1] - 1].label]
				.self += cell->weight;
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
	const struct labels *labels = &builder->top->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		if (!builder->on_path[labels->lines[i].label]++)
			builder->top->rows[labels->lines[i].label].total += builder->weights[stack];
}

static void leave(struct builder *builder, stack_id stack)
{
	frame_id frame = profile_get_stack(builder->profile, stack).frame;
	const struct labels *labels = &builder->top->labels;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		builder->on_path[labels->lines[i].label]--;
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
	labels_init(&top->labels, profile);
	make_rows(top);
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
	labels_deinit(&top->labels);
	free(top->rows);
	*top = (struct top){0};
}
