#include "report/branches.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "profile/cpu_records.h"

#include <stdlib.h>
#include <string.h>

enum prediction { UNKNOWN, PREDICTED, MISPREDICTED };

static enum prediction prediction_of(const struct profile *profile, label_set_id id)
{
	const struct profile_label_set *set = profile_get_label_set(profile, id);

	for (uint32_t i = 0; i < set->count; i++) {
		const char *text = profile_string(profile, set->labels[i].text);

		if (strcmp(profile_string(profile, set->labels[i].key), BRANCH_LABEL) != 0)
			continue;
		if (!strcmp(text, BRANCH_MISPREDICTED))
			return MISPREDICTED;
		if (!strcmp(text, BRANCH_PREDICTED))
			return PREDICTED;
	}
	return UNKNOWN;
}

static void branches_add(struct branch_counts *counts, const struct profile_sample *sample,
			 enum prediction prediction, bool are_cycles)
{
	if (are_cycles) {
		counts->cycles += sample->weight;
		return;
	}
	counts->taken += sample->weight;
	counts->mispredicted += prediction == MISPREDICTED ? sample->weight : 0;
	counts->predicted += prediction == PREDICTED ? sample->weight : 0;
}

/*
 * Calls add_to for each sample of a branch, or of its cycles, that the view
 * selects. view may be NULL for all samples.
 */
static void for_each(const struct profile *profile, const struct view *view,
		     struct branch_counts *(*counts_of)(void *user, stack_id stack), void *user)
{
	const struct profile_samples samples = profile_samples(profile);
	uint32_t set_count = profile_label_set_count(profile);
	CLEANUP(free_ptr) unsigned char *predictions = xcalloc(set_count, sizeof(*predictions));
	event_id branches, cycles = UINT32_MAX;

	if (!cpu_record_find(profile, CPU_BRANCHES, &branches))
		return;
	cpu_record_find(profile, CPU_BRANCH_CYCLES, &cycles);
	for (label_set_id i = 0; i < set_count; i++)
		predictions[i] = (unsigned char)prediction_of(profile, i);
	for (uint64_t i = 0; i < samples.count; i++) {
		struct profile_sample sample = samples.items[i];
		bool are_cycles = sample.event == cycles;

		if (!are_cycles && sample.event != branches)
			continue;
		sample.event = branches;
		if (!view || view_has(view, &sample))
			branches_add(counts_of(user, sample.stack), &sample,
				     predictions[sample.labels], are_cycles);
	}
}

static struct branch_counts *sum_of(void *user, stack_id stack)
{
	(void)stack;
	return user;
}

struct branch_counts branch_counts_of(const struct profile *profile)
{
	struct branch_counts all = {0};

	for_each(profile, NULL, sum_of, &all);
	return all;
}

bool branch_mispredicted(const struct branch_counts *counts, double *ret)
{
	uint64_t told = counts->mispredicted + counts->predicted;

	*ret = told ? (double)counts->mispredicted / (double)told : 0;
	return told;
}

struct branches_builder {
	const struct view *view;
	struct branch_rows *rows;
	size_t room;
	struct idmap by_stack; /* → index of the row */
	struct branch_counts unplaced;
};

static struct branch_place branches_place_of(const struct view *view, frame_id frame)
{
	const struct labelled_line *line =
		&view->labels.lines[view->labels.first_line[frame + 1] - 1];

	return (struct branch_place){.label = line->label, .line = line->line};
}

static struct branch_counts *branches_row_of(void *user, stack_id id)
{
	struct branches_builder *builder = user;
	const struct profile_stacks stacks = profile_stacks(builder->view->profile);
	stack_id from = stacks.items[id].parent;
	uint32_t *row;

	/* Omitted branches have no known location. */
	if (from == STACK_EMPTY)
		return &builder->unplaced;
	row = idmap_put(&builder->by_stack, id, 0);
	if (*row == IDMAP_NONE) {
		*row = (uint32_t)builder->rows->count;
		GROW(builder->rows->items, builder->rows->count, builder->room);
		builder->rows->items[builder->rows->count++] = (struct branch_row){
			.from = branches_place_of(builder->view, stacks.items[from].frame),
			.to = branches_place_of(builder->view, stacks.items[id].frame),
		};
	}
	return &builder->rows->items[*row].counts;
}

static int branches_compare_numbers(uint32_t left, uint32_t right)
{
	return (left > right) - (left < right);
}

static int by_places(const void *a, const void *b)
{
	const struct branch_row *left = a, *right = b;
	int order = branches_compare_numbers(left->from.label, right->from.label);

	order = order ? order : branches_compare_numbers(left->from.line, right->from.line);
	order = order ? order : branches_compare_numbers(left->to.label, right->to.label);
	return order ? order : branches_compare_numbers(left->to.line, right->to.line);
}

static int by_taken(const void *a, const void *b)
{
	const struct branch_row *left = a, *right = b;

	if (left->counts.taken != right->counts.taken)
		return left->counts.taken < right->counts.taken ? 1 : -1;
	return by_places(a, b);
}

static void branches_add_counts(struct branch_counts *sum, const struct branch_counts *more)
{
	sum->taken += more->taken;
	sum->mispredicted += more->mispredicted;
	sum->predicted += more->predicted;
	sum->cycles += more->cycles;
}

/*
 * Merges rows with the same pair of lines: several addresses can belong to one
 * line.
 */
static void merge_equal(struct branch_rows *rows)
{
	size_t kept = 0;

	qsort(rows->items, rows->count, sizeof(*rows->items), by_places);
	for (size_t i = 1; i < rows->count; i++) {
		if (by_places(&rows->items[kept], &rows->items[i]) == 0)
			branches_add_counts(&rows->items[kept].counts, &rows->items[i].counts);
		else
			rows->items[++kept] = rows->items[i];
	}
	rows->count = kept + 1;
}

void branch_rows_init(struct branch_rows *rows, const struct view *view)
{
	struct branches_builder builder = {.view = view, .rows = rows};

	*rows = (struct branch_rows){0};
	for_each(view->profile, view, branches_row_of, &builder);
	idmap_deinit(&builder.by_stack);
	rows->all = builder.unplaced;
	if (!rows->count)
		return;
	merge_equal(rows);
	for (size_t i = 0; i < rows->count; i++)
		branches_add_counts(&rows->all, &rows->items[i].counts);
	qsort(rows->items, rows->count, sizeof(*rows->items), by_taken);
}

void branch_rows_deinit(struct branch_rows *rows)
{
	free(rows->items);
}
