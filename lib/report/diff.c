#include "report/diff.h"

#include "base/alloc.h"
#include "report/diff_sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The minimum number of samples of a stack. */
enum { FEWEST_SAMPLES = 12 };

struct report_diff_builder {
	struct diff *diff;
	const struct diff_options *options;
	struct comparison *comparison;
	struct diff_sums sums;
	struct change **family;
	size_t family_count;
};

static const struct measurement *of(const struct report_diff_builder *builder,
				    const struct measurement *table, uint32_t index)
{
	return &table[(size_t)index * builder->diff->columns];
}

static bool report_diff_is_same(const struct report_diff_builder *builder,
				const struct measurement *a, const struct measurement *b)
{
	for (uint32_t i = 0; i < builder->diff->columns; i++)
		if (a[i].samples != b[i].samples || a[i].weight != b[i].weight)
			return false;
	return true;
}

static bool is_nothing(const struct report_diff_builder *builder, const struct measurement *part)
{
	for (uint32_t i = 0; i < builder->diff->columns; i++)
		if (part[i].weight > 0)
			return false;
	return true;
}

static bool report_diff_is_unsampled(const struct report_diff_builder *builder, uint32_t label)
{
	return display_labels_is_unsampled(&builder->diff->labels, label);
}

static void add_unsampled(struct report_diff_builder *builder, const struct measurement *part)
{
	struct change change = comparison_part(builder->comparison, part);

	builder->diff->unsampled.before += change.before;
	builder->diff->unsampled.after += change.after;
}

static void join_family(struct report_diff_builder *builder, struct change *change)
{
	builder->family[builder->family_count++] = change;
}

/* A leaf's total equals its self, so only one of them is tested. */
static void report_diff_make_rows(struct report_diff_builder *builder)
{
	struct diff *diff = builder->diff;
	uint32_t labels = diff->labels.count;

	diff->rows = xcalloc(labels, sizeof(*diff->rows));
	builder->family = xcalloc(2 * (size_t)labels, sizeof(struct change *));
	comparison_learn(builder->comparison, builder->sums.selfs, labels);
	for (uint32_t i = 0; i < labels; i++) {
		const struct measurement *self = of(builder, builder->sums.selfs, i);
		const struct measurement *total = of(builder, builder->sums.totals, i);
		struct diff_row *row = &diff->rows[diff->count];

		if (is_nothing(builder, total))
			continue;
		if (report_diff_is_unsampled(builder, i)) {
			add_unsampled(builder, total);
			continue;
		}
		diff->count++;
		row->label = i;
		row->self = comparison_part(builder->comparison, self);
		join_family(builder, &row->self);
		if (report_diff_is_same(builder, self, total))
			continue;
		row->total = comparison_part(builder->comparison, total);
		join_family(builder, &row->total);
	}
	comparison_judge(builder->comparison, builder->family, builder->family_count);
	for (uint32_t i = 0; i < diff->count; i++)
		if (!(diff->rows[i].total.samples > 0))
			diff->rows[i].total = diff->rows[i].self;
}

static void list_stacks(struct diff *diff, const struct diff_sums *sums)
{
	diff->stack_count = sums->stack_count;
	diff->stacks = xcalloc(sums->stack_count, sizeof(*diff->stacks));
	for (uint32_t i = sums->stack_count; i-- > 0;) {
		struct diff_stack *stack = &diff->stacks[i], *parent;

		stack->label = sums->stacks[i].label;
		stack->parent = sums->stacks[i].parent;
		if (i == DIFF_TOP)
			continue;
		parent = &diff->stacks[stack->parent];
		stack->next_sibling = parent->first_child;
		parent->first_child = i;
	}
}

/*
 * Omits callers of a single function that have no time of their own, because
 * their numbers are those of the function.
 */
static void make_stacks(struct report_diff_builder *builder)
{
	struct diff *diff = builder->diff;
	const struct measurement *totals = builder->sums.stack_totals;

	list_stacks(diff, &builder->sums);
	free(builder->family);
	builder->family = xcalloc(diff->stack_count, sizeof(struct change *));
	builder->family_count = 0;
	for (uint32_t i = 1; i < diff->stack_count; i++) {
		struct diff_stack *stack = &diff->stacks[i];

		if (report_diff_is_same(builder, of(builder, totals, i),
					of(builder, totals, stack->parent)))
			continue;
		stack->change = comparison_part(builder->comparison, of(builder, totals, i));
		if (!report_diff_is_unsampled(builder, stack->label))
			join_family(builder, &stack->change);
	}
	comparison_judge(builder->comparison, builder->family, builder->family_count);
	diff->stacks[DIFF_TOP].change = diff->whole;
	for (uint32_t i = 1; i < diff->stack_count; i++)
		if (!(diff->stacks[i].change.samples > 0))
			diff->stacks[i].change = diff->stacks[diff->stacks[i].parent].change;
}

/*
 * Readers want to know what costs more itself, not its callers. A change beyond
 * its margin is probably real, although it may be chance, because many functions
 * are tested.
 */
enum report_diff_rank { SELF_CHANGED, SELF_LIKELY, TOTAL_CHANGED, UNCHANGED };

static double report_diff_size_of(const struct change *change)
{
	return fabs(change->after - change->before);
}

static enum report_diff_rank report_diff_rank_of(const struct diff_row *row)
{
	double self = report_diff_size_of(&row->self);

	if (row->self.is_notable)
		return SELF_CHANGED;
	if (self >= DIFF_LEAST_CHANGE && self > row->self.margin)
		return SELF_LIKELY;
	return row->total.is_notable ? TOTAL_CHANGED : UNCHANGED;
}

static double leading_change(const struct diff_row *row)
{
	return report_diff_size_of(report_diff_rank_of(row) == TOTAL_CHANGED ? &row->total
									     : &row->self);
}

static int report_diff_by_change(const void *a, const void *b, void *context)
{
	const struct diff_row *left = a, *right = b;
	const struct display_labels *labels = context;
	int order = (int)report_diff_rank_of(left) - (int)report_diff_rank_of(right);
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

static enum diff_verdict report_diff_verdict_of(const struct diff *diff)
{
	if (diff->whole.is_guess)
		return DIFF_UNJUDGED;
	if (diff->whole.is_significant)
		return diff->whole.after > 1 ? DIFF_SLOWER : DIFF_FASTER;
	for (uint32_t i = 0; i < diff->count; i++)
		if (diff->rows[i].self.is_significant || diff->rows[i].total.is_significant)
			return DIFF_CHANGED;
	return DIFF_SAME;
}

static struct comparison *new_comparison(const struct report_diff_builder *builder)
{
	const struct diff *diff = builder->diff;
	const double *errors = builder->options->weight_errors;
	uint32_t old_count = builder->options->old_count;
	CLEANUP(free_ptr) struct whole *wholes = xcalloc(diff->columns, sizeof(*wholes));

	for (uint32_t i = 0; i < diff->columns; i++) {
		double threads = builder->options->threads[i], samples = diff->wholes[i].samples;
		double error = errors ? errors[i] * samples : 0;

		threads = threads > 0 && threads < samples ? threads : samples;
		wholes[i] = (struct whole){diff->wholes[i], threads + error * error};
	}
	return comparison_new(&builder->options->comparison, wholes, old_count,
			      diff->columns - old_count);
}

static void report_diff_compare(struct report_diff_builder *builder)
{
	struct diff *diff = builder->diff;
	uint32_t old_count = builder->options->old_count;

	diff->old_weight = mean_weight(diff, 0, old_count);
	diff->new_weight = mean_weight(diff, old_count, diff->columns);
	if (!(diff->old_weight > 0) || !(diff->new_weight > 0))
		return;
	builder->comparison = new_comparison(builder);
	diff->whole_estimate = comparison_estimate_whole(builder->comparison);
	diff->whole = whole_estimate_change(&diff->whole_estimate,
					    builder->options->comparison.confidence);
	report_diff_make_rows(builder);
	make_stacks(builder);
	diff->overdispersion = comparison_overdispersion(builder->comparison);
	diff->verdict = report_diff_verdict_of(diff);
	if (diff->count)
		qsort_r(diff->rows, diff->count, sizeof(*diff->rows), report_diff_by_change,
			&diff->labels);
}

static void report_diff_builder_deinit(struct report_diff_builder *builder)
{
	comparison_free(builder->comparison);
	diff_sums_deinit(&builder->sums);
	free(builder->family);
}

void diff_init(struct diff *diff, const struct profile *merged, const struct diff_options *options)
{
	const struct diff_measure measure = {options->by_samples, options->samples_per_weight};
	CLEANUP(report_diff_builder_deinit)
	struct report_diff_builder builder = {.diff = diff, .options = options};

	*diff = (struct diff){.columns = profile_event_count(merged)};
	diff->wholes = xcalloc(diff->columns, sizeof(*diff->wholes));
	display_labels_init_named(&diff->labels, merged, options->names);
	diff_sums_init(&builder.sums, &diff->labels, &measure, FEWEST_SAMPLES);
	memcpy(diff->wholes, of(&builder, builder.sums.stack_totals, DIFF_TOP),
	       diff->columns * sizeof(*diff->wholes));
	report_diff_compare(&builder);
}

bool diff_row_is_whole(const struct diff *diff, const struct diff_row *row)
{
	const struct change *whole = &diff->whole;

	return fabs(row->total.before - whole->before) < 0.001 &&
	       fabs(row->total.after - whole->after) < 0.001;
}

void diff_deinit(struct diff *diff)
{
	display_labels_deinit(&diff->labels);
	free(diff->wholes);
	free(diff->rows);
	free(diff->stacks);
	*diff = (struct diff){0};
}
