#include "report/own_sums.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "report/own_code.h"

#include <stdlib.h>
#include <string.h>

/* The path of stacks without a function of the user's own. */
#define EMPTY_PATH 0u

struct own_sums_builder {
	struct own_sums *sums;
	const struct view *view;
	bool *is_own;	       /* by label */
	uint32_t *paths;       /* by stack */
	uint32_t *lines;       /* by stack: the innermost line in own code, or UINT32_MAX */
	struct idmap children; /* (path, label) → path */
	uint32_t path_room;
};

static void find_own_labels(struct own_sums_builder *builder)
{
	const struct display_labels *labels = &builder->view->labels;
	CLEANUP(fates_deinit) struct fates fates;

	builder->is_own = xcalloc(labels->count, sizeof(bool));
	fates_init(&fates, labels);
	for (uint32_t i = 0; i < labels->count; i++)
		builder->is_own[i] = is_own_code(labels, &fates, i);
}

/* Makes all code the user's own, for programs of which nothing else is known. */
static void take_all_code(struct own_sums_builder *builder)
{
	const struct display_labels *labels = &builder->view->labels;

	for (uint32_t i = 0; i < labels->count; i++)
		builder->is_own[i] = display_labels_code(labels, i, false) != CODE_NOTE;
	builder->sums->is_of_all_code = true;
}

static uint32_t path_below(struct own_sums_builder *builder, uint32_t parent, uint32_t label)
{
	struct own_sums *sums = builder->sums;
	uint32_t *path;

	if (parent != EMPTY_PATH && sums->paths[parent].label == label)
		return parent; /* it calls itself, perhaps through a library */
	path = idmap_put(&builder->children, parent, label);
	if (*path == IDMAP_NONE) {
		GROW(sums->paths, sums->path_count, builder->path_room);
		*path = sums->path_count;
		sums->paths[sums->path_count++] = (struct own_path){parent, label, {0}};
	}
	return *path;
}

/* A stack's id is larger than its parent's. */
static void walk_stacks(struct own_sums_builder *builder)
{
	const struct display_labels *labels = &builder->view->labels;
	const struct profile_stacks stacks = profile_stacks(builder->view->profile);
	struct own_sums *sums = builder->sums;

	GROW(sums->paths, sums->path_count, builder->path_room);
	sums->paths[sums->path_count++] = (struct own_path){0};
	builder->lines[STACK_EMPTY] = UINT32_MAX;
	for (stack_id i = 1; i < stacks.count; i++) {
		frame_id frame = stacks.items[i].frame;
		uint32_t path = builder->paths[stacks.items[i].parent];

		builder->lines[i] = builder->lines[stacks.items[i].parent];
		for (uint32_t line = labels->first_line[frame];
		     line < labels->first_line[frame + 1]; line++) {
			if (!builder->is_own[labels->lines[line].label])
				continue;
			path = path_below(builder, path, labels->lines[line].label);
			builder->lines[i] = line;
		}
		builder->paths[i] = path;
	}
}

static void own_sums_add(struct own_sums_builder *builder)
{
	const struct profile_samples samples = profile_samples(builder->view->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		struct sum sum = {.samples = sample->samples, .weight = sample->weight};

		if (!view_has(builder->view, sample))
			continue;
		sum_add(&builder->sums->all, sum);
		sum_add(&builder->sums->paths[builder->paths[sample->stack]].sum, sum);
	}
}

static int by_weight_and(uint64_t left, uint64_t right, uint32_t a, uint32_t b)
{
	if (left != right)
		return left < right ? 1 : -1;
	return (a > b) - (a < b);
}

static int own_sums_by_weight(const void *a, const void *b)
{
	const struct own_function *left = a, *right = b;

	return by_weight_and(left->sum.weight, right->sum.weight, left->label, right->label);
}

static int own_sums_by_path(const void *a, const void *b, void *context)
{
	const struct own_path *paths = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return by_weight_and(paths[left].sum.weight, paths[right].sum.weight, left, right);
}

static void sort_paths(struct own_sums *sums)
{
	sums->hottest = xcalloc(sums->path_count, sizeof(*sums->hottest));
	for (uint32_t i = 1; i < sums->path_count; i++)
		if (sums->paths[i].sum.weight)
			sums->hottest[sums->hottest_count++] = i;
	if (sums->hottest_count)
		qsort_r(sums->hottest, sums->hottest_count, sizeof(*sums->hottest),
			own_sums_by_path, sums->paths);
}

/* Finds the line of each function with the most weight. */
static void find_lines(const struct own_sums_builder *builder, struct own_function *by_label)
{
	const struct display_labels *labels = &builder->view->labels;
	const struct profile_samples samples = profile_samples(builder->view->profile);
	uint32_t count = labels->first_line[profile_frame_count(builder->view->profile)];
	CLEANUP(free_ptr) uint64_t *weights = xcalloc(count + 1, sizeof(*weights));
	CLEANUP(free_ptr) uint64_t *most = xcalloc(labels->count, sizeof(*most));
	struct idmap first = {0}; /* (label, line) → the first index with both */

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint32_t index = builder->lines[sample->stack];
		const struct labelled_line *line;
		uint32_t *same;

		if (!view_has(builder->view, sample) || index == UINT32_MAX)
			continue;
		line = &labels->lines[index];
		if (!line->line)
			continue;
		same = idmap_put(&first, line->label, line->line);
		if (*same == IDMAP_NONE)
			*same = index;
		weights[*same] += sample->weight;
		if (weights[*same] > most[line->label]) {
			most[line->label] = weights[*same];
			by_label[line->label].line = line->line;
		}
	}
	idmap_deinit(&first);
}

static void make_functions(const struct own_sums_builder *builder)
{
	struct own_sums *sums = builder->sums;
	uint32_t labels = builder->view->labels.count;
	struct own_function *by_label = xcalloc(labels, sizeof(*by_label));

	for (uint32_t i = 1; i < sums->path_count; i++)
		sum_add(&by_label[sums->paths[i].label].sum, sums->paths[i].sum);
	find_lines(builder, by_label);
	for (uint32_t i = 0; i < labels; i++) {
		if (!by_label[i].sum.weight)
			continue;
		by_label[i].label = i;
		by_label[sums->count++] = by_label[i];
	}
	if (sums->count)
		qsort(by_label, sums->count, sizeof(*by_label), own_sums_by_weight);
	sums->functions = by_label;
}

static void own_sums_builder_deinit(struct own_sums_builder *builder)
{
	free(builder->is_own);
	free(builder->paths);
	free(builder->lines);
	idmap_deinit(&builder->children);
}

static void own_sums_build(struct own_sums *sums, const struct view *view, bool of_all_code)
{
	uint32_t stacks = profile_stacks(view->profile).count;
	CLEANUP(own_sums_builder_deinit)
	struct own_sums_builder builder = {
		.sums = sums,
		.view = view,
		.paths = xcalloc(stacks, sizeof(uint32_t)),
		.lines = xcalloc(stacks, sizeof(uint32_t)),
	};

	*sums = (struct own_sums){0};
	find_own_labels(&builder);
	if (of_all_code)
		take_all_code(&builder);
	walk_stacks(&builder);
	own_sums_add(&builder);
	make_functions(&builder);
	sort_paths(sums);
}

void own_sums_init(struct own_sums *sums, const struct view *view)
{
	own_sums_build(sums, view, false);
	if (sums->count || !sums->all.weight)
		return;
	own_sums_deinit(sums);
	own_sums_build(sums, view, true);
}

void own_sums_deinit(struct own_sums *sums)
{
	free(sums->functions);
	free(sums->paths);
	free(sums->hottest);
	*sums = (struct own_sums){0};
}
