#include "report/blocked_tasks.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "profile/task_name.h"
#include "profile/tasks.h"
#include "report/rows.h"
#include "report/short_name.h"
#include "report/waiting.h"
#include "report/waiting_place.h"

#include <stdlib.h>
#include <string.h>

/*
 * Blocking below this time, or below this share of the recording, is not
 * reported.
 */
#define LEAST_NS NS_PER_MS
enum { LEAST_PART = 1000 };

/* Where a future waited. */
struct blocked_tasks_place {
	uint32_t task; /* its index */
	uint32_t reason, call, caller;
	uint64_t ns;
};

struct blocked_tasks_places {
	struct blocked_tasks_place *items;
	size_t count, room;
};

static bool must_not_block(enum task_kind kind)
{
	return kind == TASK_FUTURE || kind == TASK_SHARED_ROOT;
}

/*
 * Returns the mark of each label. MARK_PROGRAM is only for functions of the
 * program.
 */
static enum task_mark *find_marks(const struct display_labels *labels)
{
	enum task_mark *marks = xcalloc(labels->count, sizeof(*marks));

	for (uint32_t i = 0; i < labels->count; i++) {
		const struct label *label = &labels->items[i];
		const char *file = profile_string(labels->profile, label->file);

		marks[i] = task_rule_of(label->name, file).mark;
		if (marks[i] == MARK_PROGRAM && waiting_rank_of(labels, i) > RANK_NATIVE)
			marks[i] = MARK_GLUE;
	}
	return marks;
}

/*
 * Finds the innermost function of the program in a stack, and the function that
 * it calls. Without debug information the future may be inlined into the
 * executor's function. Then it finds the function that this one calls.
 */
static void find_call(const struct view *view, const enum task_mark *marks, stack_id stack,
		      struct blocked_tasks_place *place)
{
	const struct display_labels *labels = &view->labels;

	place->call = place->caller = ROW_NO_LABEL;
	for (; stack != STACK_EMPTY; stack = view->stacks[stack].parent) {
		frame_id frame = view->stacks[stack].frame;

		for (uint32_t i = labels->first_line[frame + 1]; i-- > labels->first_line[frame];) {
			uint32_t label = labels->lines[i].label;

			if (marks[label] == MARK_PROGRAM)
				place->caller = label;
			if (marks[label] != MARK_GLUE)
				return;
			place->call = label;
		}
	}
}

static bool blocked_tasks_is_of_kernel(const struct display_labels *labels, uint32_t label)
{
	return label != ROW_NO_LABEL && waiting_rank_of(labels, label) >= RANK_KERNEL;
}

static void blocked_tasks_add_place(struct blocked_tasks_places *places, const struct view *view,
				    const enum task_mark *marks, uint32_t task,
				    const struct profile_sample *sample)
{
	stack_id end = waiting_reason(view->profile, sample->stack);
	struct blocked_tasks_place place = {.task = task, .ns = sample->weight};

	if (end == STACK_EMPTY)
		return;
	place.reason = view_leaf_label(view, end);
	if (waiting_is_runnable(view->labels.items[place.reason].name))
		return;
	find_call(view, marks, view->stacks[end].parent, &place);
	if (blocked_tasks_is_of_kernel(&view->labels, place.call))
		place.call = ROW_NO_LABEL;
	GROW(places->items, places->count, places->room);
	places->items[places->count++] = place;
}

static void blocked_tasks_find_places(struct blocked_tasks_places *places, const struct view *view,
				      const struct tasks *tasks)
{
	const struct profile_samples samples = profile_samples(view->profile);
	CLEANUP(free_ptr) enum task_mark *marks = find_marks(&view->labels);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		uint32_t task = tasks->of_stack[sample->stack];

		if (view_has(view, sample) && task != NO_TASK &&
		    must_not_block(tasks->items[task].kind) && !tasks->may_block[sample->stack])
			blocked_tasks_add_place(places, view, marks, task, sample);
	}
}

static int blocked_tasks_compare_numbers(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int blocked_tasks_by_place(const void *a, const void *b)
{
	const struct blocked_tasks_place *left = a, *right = b;
	int ret = blocked_tasks_compare_numbers(left->task, right->task);

	ret = ret ? ret : blocked_tasks_compare_numbers(left->reason, right->reason);
	ret = ret ? ret : blocked_tasks_compare_numbers(left->call, right->call);
	return ret ? ret : blocked_tasks_compare_numbers(left->caller, right->caller);
}

/* The longest first; equal ones by name. */
static int blocked_tasks_by_time(const void *a, const void *b)
{
	const struct blocked_task *left = a, *right = b;

	if (left->blocked_ns != right->blocked_ns)
		return left->blocked_ns > right->blocked_ns ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* ---- words ---- */

/*
 * Returns the name of the function of the program, unless the task starts
 * there. The caller frees it.
 */
static char *caller_name(const struct view *view, const char *task,
			 const struct blocked_tasks_place *place)
{
	const struct label *label;
	char *name;

	if (place->caller == ROW_NO_LABEL)
		return NULL;
	label = &view->labels.items[place->caller];
	/* Without its line, it is unknown whether a body is the task's. */
	if (!label->start_line && (*label->name == '{' || task_is_complete(label->name)))
		return NULL;
	name = task_name(
		&(struct task_function){
			.name = label->name,
			.file = profile_string(view->profile, label->file),
			.line = label->start_line,
		},
		TASK_FUTURE);
	/* " (block_on)" */
	if (!strncmp(name, task, strlen(name)))
		free(STEAL(name));
	return name;
}

/*
 * Returns the public path of a function of Rust's library:
 * "std::sync::Mutex::lock". The caller frees it.
 */
static char *public_name(const char *name)
{
	static const struct {
		const char *private, *public;
	} modules[] = {
		{"std::thread::functions::", "std::thread::"},
		{"std::thread::join_handle::", "std::thread::"},
		{"std::sync::poison::condvar::", "std::sync::"},
		{"std::sync::poison::mutex::", "std::sync::"},
		{"std::sync::poison::rwlock::", "std::sync::"},
		{"std::sync::mutex::", "std::sync::"},
		{"std::sync::rwlock::", "std::sync::"},
		{"std::sync::condvar::", "std::sync::"},
		{"std::net::tcp::", "std::net::"},
		{"std::net::udp::", "std::net::"},
	};
	char *path = name_without_generics(name);

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
		const char *rest = path + strlen(modules[i].private);
		char *renamed;

		if (!text_begins(path, modules[i].private))
			continue;
		renamed = xasprintf("%s%s", modules[i].public, rest);
		free(path);
		return renamed;
	}
	return path;
}

static bool is_worth_a_word(const struct blocked_task *task, const struct profile *profile)
{
	return task->blocked_ns >= LEAST_NS &&
	       task->blocked_ns >= profile_get_info(profile)->duration_ns / LEAST_PART;
}

static void blocked_tasks_describe(struct blocked_task *task, const struct view *view,
				   const struct blocked_tasks_place *place)
{
	const struct label *labels = view->labels.items;
	CLEANUP(free_ptr) char *caller = caller_name(view, task->name, place);

	task->place_ns = place->ns;
	task->reason = xstrdup(labels[place->reason].name);
	task->call = place->call == ROW_NO_LABEL ? NULL : public_name(labels[place->call].name);
	if (is_worth_a_word(task, view->profile))
		task->text = xasprintf("%s blocks the executor: %s in %s%s%s%s%s", task->name,
				       humanize_time(task->place_ns).text, task->reason,
				       task->call ? " of " : "", task->call ? task->call : "",
				       caller ? ", called by " : "", caller ? caller : "");
}

/* ---- sums ---- */

/* Adds up equal places of a task. Returns the number of all its places. */
static size_t sum_task(struct blocked_task *task, const struct view *view,
		       const struct blocked_tasks_place *places, size_t count)
{
	struct blocked_tasks_place longest = {0};
	size_t i, end;

	for (i = 0; i < count && places[i].task == places[0].task; i = end) {
		struct blocked_tasks_place sum = places[i];

		for (end = i + 1; end < count && !blocked_tasks_by_place(&places[i], &places[end]);
		     end++)
			sum.ns += places[end].ns;
		task->blocked_ns += sum.ns;
		longest = sum.ns > longest.ns ? sum : longest;
	}
	blocked_tasks_describe(task, view, &longest);
	return i;
}

static void sum_places(struct blocked_tasks *blocked, const struct view *view,
		       const struct blocked_tasks_places *places)
{
	blocked->items = xcalloc(blocked->tasks->count, sizeof(*blocked->items));
	for (size_t i = 0; i < places->count;) {
		struct blocked_task *task = &blocked->items[blocked->count++];

		task->name = blocked->tasks->items[places->items[i].task].name;
		i += sum_task(task, view, &places->items[i], places->count - i);
	}
}

void blocked_tasks_init(struct blocked_tasks *blocked, const struct view *waiting)
{
	struct blocked_tasks_places places = {0};

	*blocked = (struct blocked_tasks){.tasks = xcalloc(1, sizeof(*blocked->tasks))};
	tasks_find(blocked->tasks, waiting->profile);
	if (blocked->tasks->count)
		blocked_tasks_find_places(&places, waiting, blocked->tasks);
	if (places.count) {
		qsort(places.items, places.count, sizeof(*places.items), blocked_tasks_by_place);
		sum_places(blocked, waiting, &places);
		qsort(blocked->items, blocked->count, sizeof(*blocked->items),
		      blocked_tasks_by_time);
	}
	free(places.items);
}

void blocked_tasks_deinit(struct blocked_tasks *blocked)
{
	for (size_t i = 0; i < blocked->count; i++) {
		free(blocked->items[i].reason);
		free(blocked->items[i].call);
		free(blocked->items[i].text);
	}
	free(blocked->items);
	if (blocked->tasks)
		tasks_deinit(blocked->tasks);
	free(blocked->tasks);
	*blocked = (struct blocked_tasks){0};
}

const struct blocked_task *blocked_tasks_find(const struct blocked_tasks *blocked, const char *name)
{
	for (size_t i = 0; i < blocked->count; i++)
		if (!strcmp(blocked->items[i].name, name))
			return &blocked->items[i];
	return NULL;
}
