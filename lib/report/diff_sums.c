#include "report/diff_sums.h"

#include "base/alloc.h"
#include "report/allocating_place.h"
#include "report/waiting_place.h"

#include <stdlib.h>
#include <string.h>

#define ALL_COLUMNS UINT32_MAX
#define LEFT_OUT UINT32_MAX

struct summing {
	struct diff_sums *sums;
	const struct display_labels *labels;
	const struct diff_measure *measure;
	struct profile_stacks stacks;
	struct profile_samples samples;
	bool *is_outermost;	    /* by stack: its leaf's function is not among its callers */
	struct measurement *totals; /* by stack, of one column */
	uint32_t *index;	    /* by stack: index in sums->stacks, or LEFT_OUT */
};

/* In a merged profile a frame is one function. */
static uint32_t diff_sums_label_of(const struct summing *summing, stack_id stack)
{
	frame_id frame = summing->stacks.items[stack].frame;

	return summing->labels->lines[summing->labels->first_line[frame]].label;
}

static stack_id diff_sums_parent_of(const struct summing *summing, stack_id stack)
{
	return summing->stacks.items[stack].parent;
}

static void diff_sums_add(struct measurement *to, struct measurement more)
{
	to->samples += more.samples;
	to->weight += more.weight;
}

static struct measurement measured(const struct diff_measure *measure,
				   const struct profile_sample *sample)
{
	double samples = (double)sample->samples, weight = (double)sample->weight;

	if (measure->samples_per_weight[sample->event] > 0)
		samples = weight * measure->samples_per_weight[sample->event];
	return (struct measurement){samples, measure->by_samples ? samples : weight};
}

/*
 * Walks the trie. on_path contains, by label, the number of occurrences in the
 * current stack.
 */
static void find_outermost(const struct summing *summing)
{
	CLEANUP(free_ptr) stack_id *first = xcalloc(summing->stacks.count, sizeof(*first));
	CLEANUP(free_ptr) stack_id *next = xcalloc(summing->stacks.count, sizeof(*next));
	CLEANUP(free_ptr)
	uint32_t *on_path = xcalloc(summing->labels->count, sizeof(*on_path));
	stack_id at;

	for (stack_id i = summing->stacks.count; i-- > 1;) {
		stack_id parent = diff_sums_parent_of(summing, i);

		next[i] = first[parent];
		first[parent] = i;
	}
	for (at = first[STACK_EMPTY]; at;) {
		summing->is_outermost[at] = !on_path[diff_sums_label_of(summing, at)]++;
		if (first[at]) {
			at = first[at];
			continue;
		}
		for (; at && !next[at]; at = diff_sums_parent_of(summing, at))
			on_path[diff_sums_label_of(summing, at)]--;
		if (at)
			on_path[diff_sums_label_of(summing, at)]--;
		at = next[at];
	}
}

/* A parent's id is lower than its children's. */
static void diff_sums_sum_up(const struct summing *summing, uint32_t column)
{
	struct measurement *totals = summing->totals;

	memset(totals, 0, summing->stacks.count * sizeof(*totals));
	for (uint64_t i = 0; i < summing->samples.count; i++) {
		const struct profile_sample *sample = &summing->samples.items[i];

		if (column == ALL_COLUMNS || sample->event == column)
			diff_sums_add(&totals[sample->stack], measured(summing->measure, sample));
	}
	for (stack_id i = summing->stacks.count; i-- > 1;)
		diff_sums_add(&totals[diff_sums_parent_of(summing, i)], totals[i]);
}

static void choose_stacks(const struct summing *summing, double fewest_samples)
{
	struct diff_sums *sums = summing->sums;
	uint32_t room = 0;

	diff_sums_sum_up(summing, ALL_COLUMNS);
	for (stack_id i = 0; i < summing->stacks.count; i++) {
		summing->index[i] = LEFT_OUT;
		if (i != STACK_EMPTY && summing->totals[i].samples < fewest_samples)
			continue;
		GROW(sums->stacks, sums->stack_count, room);
		summing->index[i] = sums->stack_count;
		sums->stacks[sums->stack_count++] = (struct diff_sum){
			.label = i == STACK_EMPTY ? 0 : diff_sums_label_of(summing, i),
			.parent = summing->index[diff_sums_parent_of(summing, i)],
		};
	}
	sums->stack_totals = xcalloc((size_t)sums->stack_count * sums->columns,
				     sizeof(*sums->stack_totals));
}

static void add_column(const struct summing *summing, uint32_t column)
{
	struct diff_sums *sums = summing->sums;

	diff_sums_sum_up(summing, column);
	for (stack_id i = 0; i < summing->stacks.count; i++) {
		size_t index = summing->index[i];

		if (index != LEFT_OUT)
			sums->stack_totals[index * sums->columns + column] = summing->totals[i];
		if (summing->is_outermost[i])
			diff_sums_add(&sums->totals[(size_t)diff_sums_label_of(summing, i) *
							    sums->columns +
						    column],
				      summing->totals[i]);
	}
}

static bool diff_sums_has_waiting(const struct profile *profile)
{
	for (event_id i = 0; i < profile_event_count(profile); i++)
		if (profile_get_event(profile, i)->kind == VALUE_OFF_CPU_TIME)
			return true;
	return false;
}

/*
 * The events of a merged profile have the names of files, but all are of one
 * kind.
 */
static bool has_memory(const struct profile *profile)
{
	enum value_kind kind = profile_get_event(profile, 0)->kind;

	return kind == VALUE_BYTES || kind == VALUE_OBJECTS;
}

/* Returns NULL if the leaves are the places. The caller frees the result. */
static uint32_t *diff_sums_find_places(const struct display_labels *labels)
{
	if (diff_sums_has_waiting(labels->profile))
		return waiting_places(labels);
	return profile_event_count(labels->profile) && has_memory(labels->profile)
		       ? allocating_places(labels)
		       : NULL;
}

/* places: for off-CPU time and memory, else NULL. */
static uint32_t self_label(const struct summing *summing, const uint32_t *places, stack_id stack)
{
	return places ? summing->labels->lines[places[stack]].label
		      : diff_sums_label_of(summing, stack);
}

static void diff_sums_add_selves(const struct summing *summing)
{
	struct diff_sums *sums = summing->sums;
	CLEANUP(free_ptr) uint32_t *places = diff_sums_find_places(summing->labels);

	for (uint64_t i = 0; i < summing->samples.count; i++) {
		const struct profile_sample *sample = &summing->samples.items[i];

		diff_sums_add(&sums->selfs[(size_t)self_label(summing, places, sample->stack) *
						   sums->columns +
					   sample->event],
			      measured(summing->measure, sample));
	}
}

static void summing_deinit(struct summing *summing)
{
	free(summing->is_outermost);
	free(summing->totals);
	free(summing->index);
}

void diff_sums_init(struct diff_sums *sums, const struct display_labels *labels,
		    const struct diff_measure *measure, double fewest_samples)
{
	uint32_t count = profile_stacks(labels->profile).count;
	CLEANUP(summing_deinit)
	struct summing summing = {
		.sums = sums,
		.labels = labels,
		.measure = measure,
		.stacks = profile_stacks(labels->profile),
		.samples = profile_samples(labels->profile),
		.is_outermost = xcalloc(count, sizeof(bool)),
	};

	*sums = (struct diff_sums){.columns = profile_event_count(labels->profile)};
	sums->selfs = xcalloc((size_t)labels->count * sums->columns, sizeof(*sums->selfs));
	sums->totals = xcalloc((size_t)labels->count * sums->columns, sizeof(*sums->totals));
	find_outermost(&summing);
	summing.totals = xcalloc(count, sizeof(*summing.totals));
	summing.index = xcalloc(count, sizeof(*summing.index));
	choose_stacks(&summing, fewest_samples);
	for (uint32_t i = 0; i < sums->columns; i++)
		add_column(&summing, i);
	diff_sums_add_selves(&summing);
}

void diff_sums_deinit(struct diff_sums *sums)
{
	free(sums->selfs);
	free(sums->totals);
	free(sums->stack_totals);
	free(sums->stacks);
	*sums = (struct diff_sums){0};
}
