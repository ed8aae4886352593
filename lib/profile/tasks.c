#include "profile/tasks.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/text.h"
#include "profile/task_name.h"

#include <string.h>

/* What is known at a stack, of what it has called so far. */
struct progress {
	uint32_t task; /* or NO_TASK */
	enum task_mark
		begun;	     /* a task has begun whose function is yet to come; else MARK_PROGRAM */
	enum task_kind kind; /* of that task */
	bool may_block;
	bool is_over; /* what follows is not of the thread: who woke it */
};

struct search {
	struct tasks *tasks;
	const struct profile *profile;
	struct task_rule *rules; /* by function */
	struct idmap ids;	 /* (function, kind) → index of its task */
};

static const char *string_of(const struct search *search, string_id id)
{
	return profile_string(search->profile, id);
}

/* False if there are no tasks. */
static bool find_rules(struct search *search)
{
	uint32_t count = profile_function_count(search->profile);
	bool any = false;

	search->rules = xcalloc(count, sizeof(*search->rules));
	for (function_id i = 0; i < count; i++) {
		const struct profile_function *function = profile_get_function(search->profile, i);
		struct task_rule *rule = &search->rules[i];

		*rule = task_rule_of(string_of(search, function->name),
				     string_of(search, function->file));
		any = any || rule->mark == MARK_BEGIN || rule->mark == MARK_BEGIN_NEXT ||
		      rule->mark == MARK_OUTERMOST;
	}
	return any;
}

static uint32_t add_task(struct search *search, function_id id, enum task_kind kind)
{
	const struct profile_function *function = profile_get_function(search->profile, id);
	struct tasks *tasks = search->tasks;
	const struct task_function described = {
		.name = string_of(search, function->name),
		.file = string_of(search, function->file),
		.line = function->start_line,
	};

	GROW(tasks->items, tasks->count, tasks->room);
	tasks->items[tasks->count] = (struct task){.name = task_name(&described, kind),
						   .kind = kind};
	return tasks->count++;
}

static void begin(struct search *search, struct progress *progress, function_id function)
{
	uint32_t *id = idmap_put(&search->ids, function, progress->kind);

	if (*id == IDMAP_NONE)
		*id = add_task(search, function, progress->kind);
	progress->task = *id;
	progress->begun = MARK_PROGRAM;
}

static void enter_function(struct search *search, struct progress *progress, function_id function)
{
	const struct task_rule *rule = &search->rules[function];
	bool is_next = progress->begun == MARK_BEGIN_NEXT && rule->mark != MARK_GLUE;

	switch (is_next ? MARK_PROGRAM : rule->mark) {
	case MARK_PROGRAM:
		if (progress->begun != MARK_PROGRAM)
			begin(search, progress, function);
		break;
	case MARK_OUTERMOST:
		if (progress->task != NO_TASK || progress->begun == MARK_BEGIN)
			break;
		/* fallthrough */
	case MARK_BEGIN:
	case MARK_BEGIN_NEXT:
		*progress =
			(struct progress){.task = NO_TASK, .begun = rule->mark, .kind = rule->kind};
		break;
	case MARK_END:
		*progress = (struct progress){.task = NO_TASK};
		break;
	case MARK_MAY_BLOCK:
		progress->may_block = true;
		break;
	case MARK_GLUE:
		break;
	}
}

static void enter_frame(struct search *search, struct progress *progress, frame_id id)
{
	struct profile_frame frame = profile_get_frame(search->profile, id);

	/* "[woken by NAME]" (record/wait_stacks.h) */
	if (frame.module == PROFILE_SYNTHETIC)
		progress->is_over = text_begins(
			profile_string(search->profile, (string_id)frame.offset), "[woken by ");
	for (unsigned i = frame.line_count; !progress->is_over && i-- > 0;)
		if (frame.module != PROFILE_SYNTHETIC)
			enter_function(search, progress, frame.lines[i].function);
}

/* A parent's id is below its children's. */
static void walk(struct search *search)
{
	const struct profile_stacks stacks = profile_stacks(search->profile);
	struct tasks *tasks = search->tasks;
	CLEANUP(free_ptr) struct progress *known = xcalloc(stacks.count, sizeof(*known));

	tasks->of_stack = xcalloc(stacks.count, sizeof(*tasks->of_stack));
	tasks->may_block = xcalloc(stacks.count, sizeof(*tasks->may_block));
	known[STACK_EMPTY].task = tasks->of_stack[STACK_EMPTY] = NO_TASK;
	for (stack_id i = 1; i < stacks.count; i++) {
		known[i] = known[stacks.items[i].parent];
		if (!known[i].is_over)
			enter_frame(search, &known[i], stacks.items[i].frame);
		tasks->of_stack[i] = known[i].task;
		tasks->may_block[i] = known[i].may_block;
	}
}

void tasks_find(struct tasks *tasks, const struct profile *profile)
{
	struct search search = {.tasks = tasks, .profile = profile};

	*tasks = (struct tasks){0};
	if (find_rules(&search))
		walk(&search);
	free(search.rules);
	idmap_deinit(&search.ids);
}

void tasks_deinit(struct tasks *tasks)
{
	for (uint32_t i = 0; i < tasks->count; i++)
		free(tasks->items[i].name);
	free(tasks->items);
	free(tasks->of_stack);
	free(tasks->may_block);
	*tasks = (struct tasks){0};
}

/* ---- labels ---- */

struct labelling {
	struct profile *profile;
	const struct tasks *tasks;
	string_id key;
	string_id *names; /* by task */
};

static bool has_label(const struct profile_label_set *set, string_id key)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->labels[i].key == key)
			return true;
	return false;
}

static label_set_id label(void *user, const struct profile_sample *sample)
{
	struct labelling *labelling = user;
	struct profile *profile = labelling->profile;
	const struct profile_label_set *set = profile_get_label_set(profile, sample->labels);
	struct profile_thread thread = *profile_get_thread(profile, set->thread);
	uint32_t task = labelling->tasks->of_stack[sample->stack];
	CLEANUP(free_ptr) struct profile_label *labels = NULL;

	if (task == NO_TASK)
		return sample->labels;
	labels = xcalloc((size_t)set->count + 1, sizeof(*labels));
	if (set->count)
		memcpy(labels, set->labels, set->count * sizeof(*labels));
	labels[set->count] = (struct profile_label){
		.key = labelling->key,
		.text = labelling->names[task],
	};
	return profile_label_set(profile, &thread, labels, set->count + 1);
}

/* A file has the labels of the program that wrote it. */
static bool is_labelled(const struct profile *profile, string_id key)
{
	for (label_set_id i = 0; i < profile_label_set_count(profile); i++)
		if (has_label(profile_get_label_set(profile, i), key))
			return true;
	return false;
}

void tasks_label(struct profile *profile)
{
	string_id key = strtab_add(profile_strings(profile), TASK_LABEL);
	CLEANUP(tasks_deinit) struct tasks tasks = {0};
	CLEANUP(free_ptr) string_id *names = NULL;

	if (is_labelled(profile, key))
		return;
	tasks_find(&tasks, profile);
	names = xcalloc(tasks.count, sizeof(*names));
	for (uint32_t i = 0; i < tasks.count; i++)
		names[i] = strtab_add(profile_strings(profile), tasks.items[i].name);
	if (tasks.count)
		profile_relabel(profile, label,
				&(struct labelling){
					.profile = profile,
					.tasks = &tasks,
					.key = key,
					.names = names,
				});
}
