#include "report/top.h"

#include "base/alloc.h"
#include "report/tally.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	const struct view *view;
	const struct profile *profile;
	const struct labels *labels;
	struct top *top;
	size_t room;
	struct idmap ids;  /* of rows, by what they are told apart by */
	uint32_t *of_line; /* the row of each line of labels */
};

static uint32_t row_of(struct builder *builder, uint64_t key, uint32_t subkey, struct top_row row)
{
	struct top *top = builder->top;
	uint32_t *id = idmap_put(&builder->ids, key, subkey);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)top->count;
		GROW(top->rows, top->count, builder->room);
		top->rows[top->count++] = row;
	}
	return *id;
}

/* Known and unknown ones are told apart by the subkey. */
enum { KEY_FILE, KEY_MODULE, KEY_FUNCTION, KEY_LINE };

static uint32_t row_of_module(struct builder *builder, uint32_t module)
{
	const char *path = profile_string(builder->profile,
					  profile_get_module(builder->profile, module)->path);

	return row_of(builder, module, KEY_MODULE,
		      (struct top_row){.name = path, .label = TOP_NO_LABEL, .module = module});
}

static uint32_t row_of_file(struct builder *builder, string_id file, uint32_t module)
{
	struct top_row row = {.name = profile_string(builder->profile, file),
			      .label = TOP_NO_LABEL,
			      .module = module,
			      .file = file};

	return file ? row_of(builder, file, KEY_FILE, row)
		    : row_of(builder, module, KEY_MODULE, row);
}

static uint32_t row_of_function(struct builder *builder, uint32_t label)
{
	const struct label *item = &builder->labels->items[label];

	return row_of(builder, label, KEY_FUNCTION,
		      (struct top_row){.name = item->name, .label = label, .module = item->module});
}

static uint32_t row_of_line(struct builder *builder, string_id file, uint32_t line, uint32_t label)
{
	const struct label *item = &builder->labels->items[label];

	if (!file || !line)
		return row_of_function(builder, label);
	return row_of(builder, (uint64_t)file << 32 | line, KEY_LINE,
		      (struct top_row){.name = item->name,
				       .label = label,
				       .module = item->module,
				       .file = file,
				       .line = line});
}

/* The file of the index-th line of a frame, outermost first, as labels has them. */
static string_id file_of(const struct builder *builder, frame_id id, uint32_t index)
{
	struct profile_frame frame = profile_get_frame(builder->profile, id);

	if (!frame.line_count)
		return 0;
	return profile_get_function(builder->profile,
				    frame.lines[frame.line_count - 1 - index].function)
		->file;
}

static uint32_t row_of_key(struct builder *builder, enum top_key key, frame_id frame,
			   uint32_t index)
{
	const struct labels *labels = builder->labels;
	struct labelled_line line = labels->lines[labels->first_line[frame] + index];

	switch (key) {
	case TOP_FILE:
		return row_of_file(builder, file_of(builder, frame, index),
				   labels->items[line.label].module);
	case TOP_LINE:
		return row_of_line(builder, file_of(builder, frame, index), line.line, line.label);
	case TOP_MODULE:
		return row_of_module(builder, labels->items[line.label].module);
	default:
		return row_of_function(builder, line.label);
	}
}

static void make_rows(struct builder *builder, enum top_key key)
{
	const struct labels *labels = builder->labels;
	uint32_t frames = profile_frame_count(builder->profile);

	builder->of_line = xcalloc(labels->first_line[frames], sizeof(*builder->of_line));
	for (frame_id frame = 0; frame < frames; frame++) {
		uint32_t first = labels->first_line[frame];

		for (uint32_t i = first; i < labels->first_line[frame + 1]; i++)
			builder->of_line[i] = row_of_key(builder, key, frame, i - first);
	}
}

static void add_up(struct builder *builder)
{
	struct top *top = builder->top;
	CLEANUP(free_ptr)
	struct tally *sums = tally_rows(builder->view, builder->of_line, (uint32_t)top->count);

	for (size_t i = 0; i < top->count; i++) {
		top->rows[i].self = sums[i].self;
		top->rows[i].total = sums[i].total;
	}
}

static uint32_t row_of_thread(struct builder *builder, enum top_key key, thread_id id)
{
	const struct profile_thread *thread = profile_get_thread(builder->profile, id);
	bool is_process = key == TOP_PROCESS;
	string_id name = is_process || !thread->name ? thread->process : thread->name;

	return row_of(builder, is_process ? thread->process : id, KEY_FUNCTION,
		      (struct top_row){.name = profile_string(builder->profile, name),
				       .label = TOP_NO_LABEL,
				       .thread = id});
}

/* A sample is of one thread, whatever its stack. */
static void add_threads(struct builder *builder, enum top_key key)
{
	for (uint64_t i = 0; i < profile_cell_count(builder->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(builder->profile, i);
		struct sum sum = {cell->samples, cell->weight};
		uint32_t row;

		if (!view_has(builder->view, cell))
			continue;
		row = row_of_thread(builder, key, cell->thread);
		sum_add(&builder->top->rows[row].self, sum);
		sum_add(&builder->top->rows[row].total, sum);
	}
}

static void drop_empty_rows(struct top *top)
{
	size_t count = 0;

	for (size_t i = 0; i < top->count; i++)
		if (top->rows[i].total.samples || top->rows[i].total.weight)
			top->rows[count++] = top->rows[i];
	top->count = count;
}

static void builder_deinit(struct builder *builder)
{
	idmap_deinit(&builder->ids);
	free(builder->of_line);
}

void top_init(struct top *top, const struct view *view, enum top_key key)
{
	CLEANUP(builder_deinit)
	struct builder builder = {
		.view = view, .profile = view->profile, .labels = &view->labels, .top = top};

	*top = (struct top){.all = view->stacks[STACK_EMPTY].total};
	if (key == TOP_PROCESS || key == TOP_THREAD) {
		add_threads(&builder, key);
	} else {
		make_rows(&builder, key);
		add_up(&builder);
	}
	drop_empty_rows(top);
	top_sort(top, TOP_BY_SELF);
}

void top_deinit(struct top *top)
{
	free(top->rows);
	*top = (struct top){0};
}

static int by_weight(uint64_t left, uint64_t right)
{
	return (left < right) - (left > right);
}

/* Whatever comes first, no two rows are equal: qsort is not stable. */
static int compare_rows(const struct top_row *left, const struct top_row *right,
			enum top_order order)
{
	int by_self = by_weight(left->self.weight, right->self.weight);
	int by_total = by_weight(left->total.weight, right->total.weight);
	int by_name = strcmp(left->name, right->name);
	int ret = order == TOP_BY_SELF ? by_self : order == TOP_BY_TOTAL ? by_total : by_name;

	if (!ret)
		ret = order == TOP_BY_SELF ? by_total : by_self;
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
	return compare_rows(a, b, *(enum top_order *)order);
}

void top_sort(struct top *top, enum top_order order)
{
	if (top->count)
		qsort_r(top->rows, top->count, sizeof(*top->rows), compare_by, &order);
}
