#include "report/diff.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With fewer, a stack says nothing. */
enum { FEWEST_SAMPLES = 12 };

struct builder {
	struct diff *diff;
	const struct profile *profile;
	const struct diff_options *options;
	struct comparison *comparison;
	/* Each by number of node or label, then by column. */
	struct measurement *node_selfs, *node_totals, *selfs, *totals;
	uint32_t *on_path; /* by label: how often it is in the stack where the walk is */
	struct change **family;
	size_t family_count;
};

static struct measurement *of(const struct builder *builder, struct measurement *table,
			      uint32_t index)
{
	return &table[(size_t)index * builder->diff->columns];
}

static struct measurement *new_table(const struct builder *builder, uint32_t count)
{
	return xcalloc((size_t)count * builder->diff->columns, sizeof(struct measurement));
}

static void add(const struct builder *builder, struct measurement *to,
		const struct measurement *from)
{
	for (uint32_t i = 0; i < builder->diff->columns; i++) {
		to[i].samples += from[i].samples;
		to[i].weight += from[i].weight;
	}
}

static struct measurement measured(const struct diff_options *options,
				   const struct profile_cell *cell)
{
	double samples = (double)cell->samples, weight = (double)cell->weight;

	if (options->samples_per_weight[cell->event] > 0)
		samples = weight * options->samples_per_weight[cell->event];
	return (struct measurement){samples, options->by_samples ? samples : weight};
}

static void make_tree(struct builder *builder)
{
	struct tree *tree = &builder->diff->tree;
	uint64_t cells = profile_cell_count(builder->profile);
	CLEANUP(free_ptr) uint32_t *nodes = xcalloc(cells, sizeof(*nodes));

	tree_init(tree, &builder->diff->labels);
	for (uint64_t i = 0; i < cells; i++)
		nodes[i] = tree_node_of(tree, TREE_TOP,
					profile_get_cell(builder->profile, i)->stack);
	tree_sum_up(tree);
	builder->node_selfs = new_table(builder, tree->count);
	builder->node_totals = new_table(builder, tree->count);
	for (uint64_t i = 0; i < cells; i++) {
		const struct profile_cell *cell = profile_get_cell(builder->profile, i);
		struct measurement *self = of(builder, builder->node_selfs, nodes[i]) + cell->event;
		struct measurement more = measured(builder->options, cell);

		self->samples += more.samples;
		self->weight += more.weight;
	}
}

/* A parent's number is below its children's. */
static void sum_up_tree(struct builder *builder)
{
	const struct tree *tree = &builder->diff->tree;

	for (uint32_t i = tree->count; i-- > 0;) {
		struct measurement *total = of(builder, builder->node_totals, i);

		add(builder, total, of(builder, builder->node_selfs, i));
		if (i != TREE_TOP)
			add(builder, of(builder, builder->node_totals, tree->nodes[i].parent),
			    total);
	}
	memcpy(builder->diff->wholes, of(builder, builder->node_totals, TREE_TOP),
	       builder->diff->columns * sizeof(struct measurement));
}

/* A function's total grows only where it is not in the stack already: recursion counts once. */
static void enter(struct builder *builder, uint32_t node)
{
	uint32_t label = builder->diff->tree.nodes[node].label;

	add(builder, of(builder, builder->selfs, label), of(builder, builder->node_selfs, node));
	if (!builder->on_path[label]++)
		add(builder, of(builder, builder->totals, label),
		    of(builder, builder->node_totals, node));
}

/* Leaves this node, and its callers as long as they have no more children. */
static uint32_t leave_for_next(struct builder *builder, uint32_t node)
{
	const struct tree_node *nodes = builder->diff->tree.nodes;

	for (; node != TREE_TOP; node = nodes[node].parent) {
		builder->on_path[nodes[node].label]--;
		if (nodes[node].next_sibling)
			return nodes[node].next_sibling;
	}
	return TREE_TOP;
}

static void sum_up_functions(struct builder *builder)
{
	const struct tree_node *nodes = builder->diff->tree.nodes;
	uint32_t labels = builder->diff->labels.count, at = nodes[TREE_TOP].first_child;

	builder->selfs = new_table(builder, labels);
	builder->totals = new_table(builder, labels);
	builder->on_path = xcalloc(labels, sizeof(*builder->on_path));
	while (at) {
		enter(builder, at);
		at = nodes[at].first_child ? nodes[at].first_child : leave_for_next(builder, at);
	}
}

static bool is_same(const struct builder *builder, const struct measurement *a,
		    const struct measurement *b)
{
	for (uint32_t i = 0; i < builder->diff->columns; i++)
		if (a[i].samples != b[i].samples || a[i].weight != b[i].weight)
			return false;
	return true;
}

static bool is_nothing(const struct builder *builder, const struct measurement *part)
{
	for (uint32_t i = 0; i < builder->diff->columns; i++)
		if (part[i].weight > 0)
			return false;
	return true;
}

static void join_family(struct builder *builder, struct change *change)
{
	builder->family[builder->family_count++] = change;
}

/* A leaf's total is its self, which need not be looked at twice. */
static void make_rows(struct builder *builder)
{
	struct diff *diff = builder->diff;
	uint32_t labels = diff->labels.count;

	diff->rows = xcalloc(labels, sizeof(*diff->rows));
	builder->family = xcalloc(2 * (size_t)labels, sizeof(struct change *));
	comparison_learn(builder->comparison, builder->selfs, labels);
	for (uint32_t i = 0; i < labels; i++) {
		const struct measurement *self = of(builder, builder->selfs, i);
		const struct measurement *total = of(builder, builder->totals, i);
		struct diff_row *row = &diff->rows[diff->count];

		if (is_nothing(builder, total))
			continue;
		diff->count++;
		row->label = i;
		row->self = comparison_part(builder->comparison, self);
		join_family(builder, &row->self);
		if (is_same(builder, self, total))
			continue;
		row->total = comparison_part(builder->comparison, total);
		join_family(builder, &row->total);
	}
	comparison_judge(builder->comparison, builder->family, builder->family_count);
	for (uint32_t i = 0; i < diff->count; i++)
		if (!(diff->rows[i].total.samples > 0))
			diff->rows[i].total = diff->rows[i].self;
}

static double samples_of(const struct builder *builder, const struct measurement *part)
{
	double samples = 0;

	for (uint32_t i = 0; i < builder->diff->columns; i++)
		samples += part[i].samples;
	return samples;
}

/* A caller of one function alone, without time of its own, is as much as that one. */
static void make_nodes(struct builder *builder)
{
	struct diff *diff = builder->diff;
	const struct tree *tree = &diff->tree;

	diff->nodes = xcalloc(tree->count, sizeof(*diff->nodes));
	free(builder->family);
	builder->family = xcalloc(tree->count, sizeof(struct change *));
	builder->family_count = 0;
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct measurement *total = of(builder, builder->node_totals, i);

		if (samples_of(builder, total) < FEWEST_SAMPLES ||
		    is_same(builder, total,
			    of(builder, builder->node_totals, tree->nodes[i].parent)))
			continue;
		diff->nodes[i] = comparison_part(builder->comparison, total);
		join_family(builder, &diff->nodes[i]);
	}
	comparison_judge(builder->comparison, builder->family, builder->family_count);
	diff->nodes[TREE_TOP] = diff->whole;
	for (uint32_t i = 1; i < tree->count; i++)
		if (!(diff->nodes[i].samples > 0) &&
		    samples_of(builder, of(builder, builder->node_totals, i)) >= FEWEST_SAMPLES)
			diff->nodes[i] = diff->nodes[tree->nodes[i].parent];
}

static int rank_of(const struct diff_row *row)
{
	return row->self.is_significant ? 0 : row->total.is_significant ? 1 : 2;
}

static double leading_change(const struct diff_row *row)
{
	const struct change *change = rank_of(row) == 1 ? &row->total : &row->self;

	return fabs(change->after - change->before);
}

static int by_change(const void *a, const void *b, void *context)
{
	const struct diff_row *left = a, *right = b;
	const struct labels *labels = context;
	int order = rank_of(left) - rank_of(right);
	double left_change, right_change;

	if (order)
		return order;
	left_change = leading_change(left);
	right_change = leading_change(right);
	if (left_change != right_change)
		return left_change < right_change ? 1 : -1;
	order = strcmp(labels->items[left->label].name, labels->items[right->label].name);
	return order ? order : (left->label > right->label) - (left->label < right->label);
}

static double mean_weight(const struct diff *diff, uint32_t first, uint32_t end)
{
	double sum = 0;

	for (uint32_t i = first; i < end; i++)
		sum += diff->wholes[i].weight;
	return sum / (end - first);
}

static enum diff_verdict verdict_of(const struct diff *diff)
{
	if (diff->whole.is_significant)
		return diff->whole.after > 1 ? DIFF_SLOWER : DIFF_FASTER;
	for (uint32_t i = 0; i < diff->count; i++)
		if (diff->rows[i].self.is_significant || diff->rows[i].total.is_significant)
			return DIFF_CHANGED;
	return DIFF_SAME;
}

static struct comparison *new_comparison(const struct builder *builder)
{
	const struct diff *diff = builder->diff;
	uint32_t old_count = builder->options->old_count;
	CLEANUP(free_ptr) struct whole *wholes = xcalloc(diff->columns, sizeof(*wholes));

	for (uint32_t i = 0; i < diff->columns; i++) {
		double threads = builder->options->threads[i], samples = diff->wholes[i].samples;

		wholes[i] = (struct whole){diff->wholes[i],
					   threads > 0 && threads < samples ? threads : samples};
	}
	return comparison_new(&builder->options->comparison, wholes, old_count,
			      diff->columns - old_count);
}

static void compare(struct builder *builder)
{
	struct diff *diff = builder->diff;
	uint32_t old_count = builder->options->old_count;

	diff->old_weight = mean_weight(diff, 0, old_count);
	diff->new_weight = mean_weight(diff, old_count, diff->columns);
	if (!(diff->old_weight > 0) || !(diff->new_weight > 0))
		return;
	builder->comparison = new_comparison(builder);
	diff->whole = comparison_whole(builder->comparison);
	sum_up_functions(builder);
	make_rows(builder);
	make_nodes(builder);
	diff->spread = comparison_spread(builder->comparison);
	diff->verdict = verdict_of(diff);
	if (diff->count)
		qsort_r(diff->rows, diff->count, sizeof(*diff->rows), by_change, &diff->labels);
}

static void builder_deinit(struct builder *builder)
{
	comparison_free(builder->comparison);
	free(builder->node_selfs);
	free(builder->node_totals);
	free(builder->selfs);
	free(builder->totals);
	free(builder->on_path);
	free(builder->family);
}

void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options)
{
	CLEANUP(builder_deinit)
	struct builder builder = {.diff = diff, .profile = merged, .options = options};

	*diff = (struct diff){.columns = profile_event_count(merged)};
	diff->wholes = xcalloc(diff->columns, sizeof(*diff->wholes));
	labels_init(&diff->labels, merged);
	make_tree(&builder);
	sum_up_tree(&builder);
	compare(&builder);
}

void diff_deinit(struct diff *diff)
{
	tree_deinit(&diff->tree);
	labels_deinit(&diff->labels);
	free(diff->wholes);
	free(diff->rows);
	free(diff->nodes);
	*diff = (struct diff){0};
}
