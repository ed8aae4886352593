#include "report/rows.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/text.h"
#include "profile/allocation_classes.h"
#include "profile/latency.h"
#include "profile/tasks.h"
#include "report/tally.h"
#include "report/waiting_place.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct rows_builder {
	const struct view *view;
	const struct profile *profile;
	const struct display_labels *labels;
	struct rows *rows;
	size_t room;
	struct idmap ids;  /* of rows, by what distinguishes them */
	uint32_t *of_line; /* the row of each line of labels */
};

static uint32_t rows_row_of(struct rows_builder *builder, uint64_t key, uint32_t subkey,
			    struct row row)
{
	struct rows *rows = builder->rows;
	uint32_t *id = idmap_put(&builder->ids, key, subkey);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)rows->count;
		GROW(rows->items, rows->count, builder->room);
		rows->items[rows->count++] = row;
	}
	return *id;
}

/* The subkey distinguishes known and unknown ones. */
enum { KEY_FILE, KEY_MODULE, KEY_FUNCTION, KEY_LINE };

static uint32_t row_of_module(struct rows_builder *builder, uint32_t module)
{
	const char *path = profile_string(builder->profile,
					  profile_get_module(builder->profile, module)->path);

	return rows_row_of(builder, module, KEY_MODULE,
			   (struct row){.name = path, .label = ROW_NO_LABEL, .module = module});
}

static uint32_t row_of_file(struct rows_builder *builder, string_id file, uint32_t module)
{
	struct row row = {.name = profile_string(builder->profile, file),
			  .label = ROW_NO_LABEL,
			  .module = module,
			  .file = file};

	return file ? rows_row_of(builder, file, KEY_FILE, row)
		    : rows_row_of(builder, module, KEY_MODULE, row);
}

static uint32_t row_of_function(struct rows_builder *builder, uint32_t label)
{
	const struct label *item = &builder->labels->items[label];

	return rows_row_of(
		builder, label, KEY_FUNCTION,
		(struct row){.name = item->shown, .label = label, .module = item->module});
}

static uint32_t row_of_line(struct rows_builder *builder, string_id file, uint32_t line,
			    uint32_t label)
{
	const struct label *item = &builder->labels->items[label];

	if (!file || !line)
		return row_of_function(builder, label);
	return rows_row_of(builder, (uint64_t)file << 32 | line, KEY_LINE,
			   (struct row){.name = item->shown,
					.label = label,
					.module = item->module,
					.file = file,
					.line = line});
}

/*
 * Returns the file of the index-th line of a frame. Lines are outermost first,
 * like in labels.
 */
static string_id rows_file_of(const struct rows_builder *builder, frame_id id, uint32_t index)
{
	struct profile_frame frame = profile_get_frame(builder->profile, id);

	if (!frame.line_count)
		return 0;
	return profile_get_function(builder->profile,
				    frame.lines[frame.line_count - 1 - index].function)
		->file;
}

static uint32_t row_of_key(struct rows_builder *builder, enum row_key key, frame_id frame,
			   uint32_t index)
{
	const struct display_labels *labels = builder->labels;
	struct labelled_line line = labels->lines[labels->first_line[frame] + index];

	switch (key) {
	case ROW_FILE:
		return row_of_file(builder, rows_file_of(builder, frame, index),
				   labels->items[line.label].module);
	case ROW_LINE:
		return row_of_line(builder, rows_file_of(builder, frame, index), line.line,
				   line.label);
	case ROW_MODULE:
		return row_of_module(builder, labels->items[line.label].module);
	default:
		return row_of_function(builder, line.label);
	}
}

static void rows_make(struct rows_builder *builder, enum row_key key)
{
	const struct display_labels *labels = builder->labels;
	uint32_t frames = profile_frame_count(builder->profile);

	builder->of_line = xcalloc(labels->first_line[frames], sizeof(*builder->of_line));
	for (frame_id frame = 0; frame < frames; frame++) {
		uint32_t first = labels->first_line[frame];

		for (uint32_t i = first; i < labels->first_line[frame + 1]; i++)
			builder->of_line[i] = row_of_key(builder, key, frame, i - first);
	}
}

static void rows_add_up(struct rows_builder *builder)
{
	struct rows *rows = builder->rows;
	CLEANUP(free_ptr)
	struct tally *sums = tally_rows(builder->view, builder->of_line, (uint32_t)rows->count);

	for (size_t i = 0; i < rows->count; i++) {
		rows->items[i].self = sums[i].self;
		rows->items[i].total = sums[i].total;
	}
}

static uint32_t row_of_thread(struct rows_builder *builder, enum row_key key, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(builder->profile, id);
	bool is_process = key == ROW_PROCESS;
	string_id name = is_process || !thread->name ? thread->process : thread->name;

	return rows_row_of(builder, is_process ? thread->process : id, KEY_FUNCTION,
			   (struct row){.name = profile_string(builder->profile, name),
					.label = ROW_NO_LABEL,
					.thread = id});
}

/* A sample belongs to one thread, whatever its stack. */
static void rows_add_threads(struct rows_builder *builder, enum row_key key)
{
	const struct profile_samples samples = profile_samples(builder->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *cell = &samples.items[i];
		struct sum sum = {cell->samples, cell->weight};
		uint32_t row;

		if (!view_has(builder->view, cell))
			continue;
		row = row_of_thread(builder, key,
				    profile_get_label_set(builder->profile, cell->labels)->thread);
		sum_add(&builder->rows->items[row].self, sum);
		sum_add(&builder->rows->items[row].total, sum);
	}
}

/* Each text of the values is a row. */
static void rows_add_values(struct rows_builder *builder)
{
	const struct profile_samples samples = profile_samples(builder->profile);
	struct rows *rows = builder->rows;
	uint32_t room = 0;

	for (string_id i = 0; i < strtab_count(rows->values.texts); i++) {
		GROW(rows->items, rows->count, room);
		rows->items[rows->count++] = (struct row){.name = strtab_get(rows->values.texts, i),
							  .label = ROW_NO_LABEL};
	}
	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *cell = &samples.items[i];
		struct row *row = &rows->items[rows->values.of_set[cell->labels]];

		if (!view_has(builder->view, cell))
			continue;
		sum_add(&row->self, (struct sum){cell->samples, cell->weight});
		row->total = row->self;
	}
}

static uint32_t row_of_sample(struct rows_builder *builder, enum row_key key,
			      const struct profile_sample *sample)
{
	switch (key) {
	case ROW_PROCESS:
	case ROW_THREAD:
		return row_of_thread(
			builder, key,
			profile_get_label_set(builder->profile, sample->labels)->thread);
	case ROW_LABEL:
		return builder->rows->values.of_set[sample->labels];
	default:
		return builder->of_line[view_self_line(builder->view, sample->stack)];
	}
}

/*
 * Reasons that differ only in a name are of one kind. A lock that many threads
 * hold in turn has many reasons, each small. Without kinds, another reason
 * could appear to be the largest.
 */
static const char *const kinds[] = {"[mutex held by ", "[rwlock held by ", "[end of ",
				    "[GIL held by "};

/* Returns the index in kinds, or ARRAY_SIZE(kinds). */
static size_t kind_of_reason(const char *reason)
{
	size_t kind = 0;

	while (kind < ARRAY_SIZE(kinds) && !text_begins(reason, kinds[kind]))
		kind++;
	return kind;
}

/*
 * Returns the number for the kind of a reason: a label's number, or one of
 * those after the labels.
 */
static uint32_t kind_of_label(const struct rows_builder *builder, uint32_t label)
{
	size_t kind = kind_of_reason(builder->labels->items[label].name);

	return kind < ARRAY_SIZE(kinds) ? builder->labels->count + (uint32_t)kind : label;
}

/* The sums of off-CPU time by row and reason, or by row and kind of reason. */
struct reason_sums {
	struct idmap ids;
	uint64_t *weights;
	uint32_t count, room;
};

static void reason_sums_deinit(struct reason_sums *sums)
{
	idmap_deinit(&sums->ids);
	free(sums->weights);
}

static uint64_t *rows_weight_of(struct reason_sums *sums, uint32_t row, uint32_t reason)
{
	uint32_t *id = idmap_put(&sums->ids, (uint64_t)row << 32 | reason, 0);

	if (*id == IDMAP_NONE) {
		*id = sums->count;
		GROW(sums->weights, sums->count, sums->room);
		sums->weights[sums->count++] = 0;
	}
	return &sums->weights[*id];
}

/*
 * Finds the row and the label of the reason. Returns false if the sample is not
 * selected or has no reason.
 */
static bool find_reason(struct rows_builder *builder, enum row_key key,
			const struct profile_sample *sample, uint32_t *row, uint32_t *reason)
{
	stack_id end = waiting_reason(builder->profile, sample->stack);

	if (!view_has(builder->view, sample) || end == STACK_EMPTY)
		return false;
	*row = row_of_sample(builder, key, sample);
	*reason = view_leaf_label(builder->view, end);
	return true;
}

/*
 * Chooses the kind with most of a row's off-CPU time, then the largest reason
 * of this kind.
 */
static void choose_reason(const struct rows_builder *builder, struct reason_sums *sums,
			  struct row *row, uint32_t index, uint32_t reason)
{
	uint64_t kind = *rows_weight_of(sums, index, kind_of_label(builder, reason));
	uint64_t alone = *rows_weight_of(sums, index, reason);

	if (row->reason != ROW_NO_LABEL &&
	    (kind < row->kind_weight || (kind == row->kind_weight && alone <= row->reason_weight)))
		return;
	row->reason = reason;
	row->reason_weight = alone;
	row->kind_weight = kind;
}

/* Finds the reason that has most of the off-CPU time in each row. */
static void rows_find_reasons(struct rows_builder *builder, enum row_key key)
{
	const struct profile_samples samples = profile_samples(builder->profile);
	CLEANUP(reason_sums_deinit) struct reason_sums sums = {0};
	uint32_t row, reason;

	for (uint64_t i = 0; i < samples.count; i++) {
		if (!find_reason(builder, key, &samples.items[i], &row, &reason))
			continue;
		*rows_weight_of(&sums, row, reason) += samples.items[i].weight;
		if (kind_of_label(builder, reason) != reason)
			*rows_weight_of(&sums, row,
					kind_of_label(builder, reason)) += samples.items[i].weight;
	}
	for (uint64_t i = 0; i < samples.count; i++)
		if (find_reason(builder, key, &samples.items[i], &row, &reason))
			choose_reason(builder, &sums, &builder->rows->items[row], row, reason);
}

static void drop_empty_rows(struct rows *rows)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].total.samples || rows->items[i].total.weight)
			rows->items[count++] = rows->items[i];
	rows->count = count;
}

/* Finds the reasons, removes rows without samples and sorts the others. */
static void rows_finish(struct rows_builder *builder, enum row_key key)
{
	struct rows *rows = builder->rows;

	for (size_t i = 0; i < rows->count; i++)
		rows->items[i].reason = ROW_NO_LABEL;
	if (builder->view->is_waiting)
		rows_find_reasons(builder, key);
	drop_empty_rows(rows);
	rows_sort(rows, ROWS_BY_SELF);
}

static void rows_builder_deinit(struct rows_builder *builder)
{
	idmap_deinit(&builder->ids);
	free(builder->of_line);
}

void rows_init(struct rows *rows, const struct view *view, enum row_key key)
{
	CLEANUP(rows_builder_deinit)
	struct rows_builder builder = {
		.view = view, .profile = view->profile, .labels = &view->labels, .rows = rows};

	*rows = (struct rows){.all = view->stacks[STACK_EMPTY].total, .key = key};
	if (key == ROW_PROCESS || key == ROW_THREAD) {
		rows_add_threads(&builder, key);
	} else {
		rows_make(&builder, key);
		rows_add_up(&builder);
	}
	rows_finish(&builder, key);
}

struct error *rows_init_by(struct rows *rows, const struct view *view, const struct row_by *by)
{
	struct rows_builder builder = {
		.view = view, .profile = view->profile, .labels = &view->labels, .rows = rows};
	struct error *err;

	if (by->key != ROW_LABEL) {
		rows_init(rows, view, by->key);
		return NULL;
	}
	*rows = (struct rows){.all = view->stacks[STACK_EMPTY].total, .key = ROW_LABEL};
	err = label_values_init(&rows->values, view->profile, by->label);
	if (err)
		return err;
	rows_add_values(&builder);
	rows_finish(&builder, ROW_LABEL);
	return NULL;
}

void rows_deinit(struct rows *rows)
{
	label_values_deinit(&rows->values);
	free(rows->items);
	*rows = (struct rows){0};
}

static int by_weight(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

static bool class_rank(const char *name, unsigned *ret)
{
	return allocation_class_rank(name, ret) || latency_class_find(name, ret);
}

/* Names that are not buckets come last. */
static int by_class(const char *left, const char *right)
{
	unsigned left_rank = UINT_MAX, right_rank = UINT_MAX;

	if (!class_rank(left, &left_rank))
		left_rank = UINT_MAX;
	if (!class_rank(right, &right_rank))
		right_rank = UINT_MAX;
	return (left_rank > right_rank) - (left_rank < right_rank);
}

/* No two rows compare equal, because qsort is not stable. */
static int compare_rows(const struct row *left, const struct row *right, enum row_order order)
{
	int by_self = by_weight(left->self.weight, right->self.weight);
	int by_total = by_weight(left->total.weight, right->total.weight);
	int by_name = strcmp(left->name, right->name);
	int ret = order == ROWS_BY_SELF	   ? by_self
		  : order == ROWS_BY_TOTAL ? by_total
		  : order == ROWS_BY_CLASS ? by_class(left->name, right->name)
					   : by_name;

	if (!ret)
		ret = order == ROWS_BY_SELF ? by_total : by_self;
	if (!ret)
		ret = by_name ? by_name : by_total;
	if (!ret)
		ret = (left->module > right->module) - (left->module < right->module);
	if (!ret)
		ret = (left->line > right->line) - (left->line < right->line);
	if (!ret)
		ret = (left->file > right->file) - (left->file < right->file);
	return ret ? ret : (left->thread > right->thread) - (left->thread < right->thread);
}

static int compare_by(const void *a, const void *b, void *order)
{
	return compare_rows(a, b, *(enum row_order *)order);
}

void rows_sort(struct rows *rows, enum row_order order)
{
	if (rows->count)
		qsort_r(rows->items, rows->count, sizeof(*rows->items), compare_by, &order);
}

/*
 * Views of one profile have the same labels, threads and files. The thread of a
 * process is its first one in the view.
 */
static bool rows_is_same(const struct row *one, const struct row *other, enum row_key key)
{
	return one->label == other->label && one->module == other->module &&
	       one->file == other->file && one->line == other->line &&
	       (key == ROW_PROCESS || one->thread == other->thread) &&
	       !strcmp(one->name, other->name);
}

const struct row *rows_find(const struct rows *rows, const struct row *of)
{
	size_t low = 0, high = rows->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(rows->items[middle].name, of->name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < rows->count && !strcmp(rows->items[low].name, of->name); low++)
		if (rows_is_same(&rows->items[low], of, rows->key))
			return &rows->items[low];
	return NULL;
}

/*
 * The share of the main reason is omitted if less than one in this many has
 * another reason.
 */
enum { NEARLY_ALL = 20 };

static bool is_nearly_all(uint64_t part, uint64_t all)
{
	return part >= all - all / NEARLY_ALL;
}

char *row_reason(const struct view *view, const struct row *row)
{
	CLEANUP(free_ptr) char *text = NULL;
	const char *reason;

	if (row->reason == ROW_NO_LABEL)
		return xstrdup("");
	reason = view->labels.items[row->reason].name;
	/* The row is the reason, because there is no stack. */
	if (!strcmp(reason, row->name))
		return xstrdup("");
	text = is_nearly_all(row->reason_weight, row->kind_weight)
		       ? xstrdup(reason)
		       : xasprintf("%sseveral]", kinds[kind_of_reason(reason)]);
	if (is_nearly_all(row->kind_weight, row->self.weight))
		return xstrdup(text);
	return xasprintf("%s %s", text, humanize_share(row->kind_weight, row->self.weight).text);
}

bool row_by_is_class(const struct row_by *by)
{
	return by->key == ROW_LABEL &&
	       (!strcmp(by->label, ALLOCATION_SIZE_LABEL) ||
		!strcmp(by->label, ALLOCATION_LIFETIME_LABEL) ||
		!strcmp(by->label, ALLOCATION_AGE_LABEL) || !strcmp(by->label, LATENCY_LABEL));
}

bool row_by_is_task(const struct row_by *by)
{
	return by->key == ROW_LABEL && !strcmp(by->label, TASK_LABEL);
}

const char *row_by_name(const struct row_by *by)
{
	static const char *const names[] = {
		[ROW_FUNCTION] = "function", [ROW_FILE] = "file",	[ROW_LINE] = "line",
		[ROW_MODULE] = "module",     [ROW_PROCESS] = "process", [ROW_THREAD] = "thread",
	};

	return by->key == ROW_LABEL ? by->label : names[by->key];
}
