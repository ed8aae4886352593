#include "profile/tasks.h"

#include "base/alloc.h"
#include "base/idmap.h"
#include "base/strtab.h"
#include "base/text.h"
#include "profile/code_origin.h"
#include "profile/task_name.h"

#include <string.h>

/* The state at a stack that follows from its frames. */
struct progress {
	uint32_t task; /* or NO_TASK */
	enum task_mark
		/*
		 * Set if the function of a started task is still to come, else
		 * MARK_PROGRAM.
		 */
		begun;
	enum task_kind kind;  /* of that task */
	function_id begun_by; /* the outermost function whose rule starts the task */
	/*
	 * The first function of the runtime whose generic arguments name the
	 * task.
	 */
	function_id type;
	bool may_block;
	bool in_server; /* a server has called a handler, which is still to come */
	bool is_over;	/* the following frames are those of the waker, not of the thread */
};

#define NO_FUNCTION UINT32_MAX
/* The function starts several tasks, because it polls futures of any type. */
#define SEVERAL_TASKS (UINT32_MAX - 1)
/* Value in `types`: the generic arguments name no task. */
#define NAMES_NO_TASK (UINT32_MAX - 1)

struct tasks_search {
	struct tasks *tasks;
	const struct profile *profile;
	struct strtab *names;
	struct task_rule *rules; /* by function */
	struct idmap functions;	 /* (function, kind) → index of the task that starts there */
	struct idmap types;	 /* (runtime function, kind) → the task that it names */
	struct idmap begun;	 /* (runtime function, kind) → the task that it starts */
	struct idmap ids;	 /* (name, kind) → index of the task */
	bool *of_waits;		 /* by stack: whether its task waits; NULL if no task does */
};

static const char *tasks_string_of(const struct tasks_search *search, string_id id)
{
	return profile_string(search->profile, id);
}

static const char *tasks_name_of(const struct tasks_search *search, function_id id)
{
	return tasks_string_of(search, profile_get_function(search->profile, id)->name);
}

/*
 * Marks stacks of futures that wait for each other. The outermost one is the
 * task's.
 */
static void find_waits(struct tasks_search *search)
{
	const struct profile_samples samples = profile_samples(search->profile);
	const struct profile_stacks stacks = profile_stacks(search->profile);
	event_id event = profile_event_count(search->profile);

	while (event-- > 0 &&
	       strcmp(tasks_string_of(search, profile_get_event(search->profile, event)->name),
		      VALUE_AWAIT_EVENT) != 0)
		continue;
	if (event == (event_id)-1)
		return;
	search->of_waits = xcalloc(stacks.count, sizeof(*search->of_waits));
	for (uint64_t i = 0; i < samples.count; i++)
		if (samples.items[i].event == event)
			search->of_waits[samples.items[i].stack] = true;
	for (stack_id i = stacks.count; i-- > 1;)
		search->of_waits[stacks.items[i].parent] |= search->of_waits[i];
}

static bool has_tasks(const struct tasks_search *search)
{
	uint32_t count = profile_function_count(search->profile);
	function_id i = 0;

	if (search->of_waits)
		return true;
	while (i < count && !task_rule_begins(tasks_name_of(search, i)))
		i++;
	return i < count;
}

static void find_rules(struct tasks_search *search)
{
	uint32_t count = profile_function_count(search->profile);

	search->rules = xcalloc(count, sizeof(*search->rules));
	for (function_id i = 0; i < count; i++) {
		const struct profile_function *function = profile_get_function(search->profile, i);

		search->rules[i] = task_rule_of(tasks_string_of(search, function->name),
						tasks_string_of(search, function->file));
	}
}

/* ---- naming ---- */

static uint32_t add_task(struct tasks_search *search, const struct task_function *function,
			 enum task_kind kind)
{
	CLEANUP(free_ptr) char *name = task_name(function, kind);
	struct tasks *tasks = search->tasks;
	uint32_t *id = idmap_put(&search->ids, strtab_add(search->names, name), kind);

	if (*id != IDMAP_NONE)
		return *id;
	GROW(tasks->items, tasks->count, tasks->room);
	tasks->items[tasks->count] = (struct task){.name = STEAL(name), .kind = kind};
	return *id = tasks->count++;
}

static uint32_t task_at(struct tasks_search *search, function_id id, enum task_kind kind)
{
	uint32_t *task = idmap_put(&search->functions, id, kind);
	const struct profile_function *function = profile_get_function(search->profile, id);

	if (*task == IDMAP_NONE)
		*task = add_task(search,
				 &(struct task_function){
					 .name = tasks_string_of(search, function->name),
					 .file = tasks_string_of(search, function->file),
					 .line = function->start_line,
				 },
				 kind);
	return *task;
}

/*
 * Returns the task that the generic arguments of a function name, or NO_TASK.
 */
static uint32_t task_of_type(struct tasks_search *search, function_id id, enum task_kind kind)
{
	uint32_t *task = idmap_put(&search->types, id, kind);
	CLEANUP(free_ptr) char *type = NULL;

	if (*task == IDMAP_NONE) {
		type = task_rule_type(tasks_name_of(search, id));
		*task = type ? add_task(search, &(struct task_function){.name = type, .file = ""},
					kind)
			     : NAMES_NO_TASK;
	}
	return *task == NAMES_NO_TASK ? NO_TASK : *task;
}

/* Returns whether the function's name and location identify the task. */
static bool tasks_is_complete(const struct tasks_search *search, function_id function)
{
	return profile_get_function(search->profile, function)->start_line &&
	       task_is_complete(tasks_name_of(search, function));
}

/*
 * Returns the task that starts at this function. The type is more precise than
 * the name of an inlined function without a path, or of a function that the
 * future calls while the future itself is inlined.
 */
static uint32_t task_of(struct tasks_search *search, const struct progress *progress,
			function_id function)
{
	uint32_t task = NO_TASK;

	if (progress->type != NO_FUNCTION && !tasks_is_complete(search, function))
		task = task_of_type(search, progress->type, progress->kind);
	return task != NO_TASK ? task : task_at(search, function, progress->kind);
}

/* ---- walking ---- */

static void note_begun(struct tasks_search *search, const struct progress *progress)
{
	uint32_t *task;

	if (progress->begun_by == NO_FUNCTION)
		return;
	task = idmap_put(&search->begun, progress->begun_by, progress->kind);
	if (*task == IDMAP_NONE)
		*task = progress->task;
	else if (*task != progress->task)
		*task = SEVERAL_TASKS;
}

static void enter_handler(struct tasks_search *search, struct progress *progress,
			  function_id function)
{
	string_id file = profile_get_function(search->profile, function)->file;

	if (!progress->in_server ||
	    !task_rule_is_handler(tasks_name_of(search, function), tasks_string_of(search, file)))
		return;
	progress->task = task_at(search, function, progress->kind);
	progress->in_server = false;
}

static void enter_program(struct tasks_search *search, struct progress *progress,
			  function_id function)
{
	if (progress->begun == MARK_PROGRAM) {
		enter_handler(search, progress, function);
		return;
	}
	progress->task = task_of(search, progress, function);
	note_begun(search, progress);
	progress->begun = MARK_PROGRAM;
}

static void note_type(struct tasks_search *search, struct progress *progress, function_id function)
{
	if (progress->begun == MARK_PROGRAM || progress->type != NO_FUNCTION)
		return;
	/* Line tables have no path for an inlined poll() of BlockingTask. */
	if (progress->kind == TASK_FUTURE &&
	    strstr(tasks_name_of(search, function), TASK_BLOCKING_TYPE))
		progress->kind = TASK_BLOCKING;
	if (task_of_type(search, function, progress->kind) != NO_TASK)
		progress->type = function;
}

static void tasks_begin(struct tasks_search *search, struct progress *progress,
			function_id function)
{
	const struct task_rule *rule = &search->rules[function];

	if (progress->begun != rule->mark || rule->kind != progress->kind)
		*progress = (struct progress){
			.task = NO_TASK,
			.begun = rule->mark,
			.kind = rule->kind,
			.begun_by = function,
			.type = NO_FUNCTION,
		};
	note_type(search, progress, function);
}

static void begin_wait(struct progress *progress)
{
	*progress = (struct progress){
		.task = NO_TASK,
		.begun = MARK_BEGIN,
		.kind = TASK_FUTURE,
		.begun_by = NO_FUNCTION,
		.type = NO_FUNCTION,
	};
}

static void enter_function(struct tasks_search *search, struct progress *progress,
			   function_id function)
{
	const struct task_rule *rule = &search->rules[function];
	bool is_next = progress->begun == MARK_BEGIN_NEXT && rule->mark != MARK_CALLER;

	switch (is_next ? MARK_PROGRAM : rule->mark) {
	case MARK_PROGRAM:
		enter_program(search, progress, function);
		break;
	case MARK_OUTERMOST:
		if (progress->task == NO_TASK && progress->begun != MARK_BEGIN)
			tasks_begin(search, progress, function);
		break;
	case MARK_BEGIN:
	case MARK_BEGIN_NEXT:
		tasks_begin(search, progress, function);
		break;
	case MARK_END:
		*progress = (struct progress){.task = NO_TASK};
		break;
	case MARK_HANDLER:
		progress->in_server = progress->task != NO_TASK;
		break;
	case MARK_MAY_BLOCK:
		progress->may_block = true;
		break;
	case MARK_CALLER:
	case MARK_GLUE:
		note_type(search, progress, function);
		break;
	}
}

/* Returns whether the frame is "[woken by NAME]" (record/wait_stacks.h). */
static bool tasks_is_waker(const struct tasks_search *search, const struct profile_frame *frame)
{
	return frame->module == PROFILE_SYNTHETIC &&
	       text_begins(tasks_string_of(search, (string_id)frame->offset), "[woken by ");
}

/* A task never starts in the kernel or in a C library. */
static bool has_program(const struct tasks_search *search, const struct profile_frame *frame)
{
	const struct profile_module *module = profile_get_module(search->profile, frame->module);
	const char *path = tasks_string_of(search, module->path);
	const char *slash = strrchr(path, '/');

	return module->kind != PROFILE_MODULE_SYNTHETIC && module->kind != PROFILE_MODULE_KERNEL &&
	       module->kind != PROFILE_MODULE_VDSO &&
	       code_origin_of(slash ? slash + 1 : path, "") == ORIGIN_PROGRAM;
}

static void enter_frame(struct tasks_search *search, struct progress *progress, frame_id id)
{
	struct profile_frame frame = profile_get_frame(search->profile, id);

	progress->is_over = tasks_is_waker(search, &frame);
	if (progress->is_over || !has_program(search, &frame))
		return;
	for (unsigned i = frame.line_count; i-- > 0;)
		enter_function(search, progress, frame.lines[i].function);
}

/*
 * Returns the task of runtime work whose function is not in the stack. It is
 * the only task that the runtime's function starts, because there is an
 * instantiation for each type of future; else the task of the type.
 */
static uint32_t finished(struct tasks_search *search, const struct progress *progress)
{
	uint32_t task;

	if (progress->task != NO_TASK || progress->begun != MARK_BEGIN)
		return progress->task;
	task = idmap_get(&search->begun, progress->begun_by, progress->kind);
	if (task != IDMAP_NONE && task != SEVERAL_TASKS)
		return task;
	return progress->type == NO_FUNCTION ? NO_TASK
					     : task_of_type(search, progress->type, progress->kind);
}

/* A parent's id is lower than its children's. */
static void tasks_walk(struct tasks_search *search)
{
	const struct profile_stacks stacks = profile_stacks(search->profile);
	struct tasks *tasks = search->tasks;
	CLEANUP(free_ptr) struct progress *known = xcalloc(stacks.count, sizeof(*known));

	known[STACK_EMPTY].task = NO_TASK;
	for (stack_id i = 1; i < stacks.count; i++) {
		known[i] = known[stacks.items[i].parent];
		if (search->of_waits && search->of_waits[i] &&
		    stacks.items[i].parent == STACK_EMPTY)
			begin_wait(&known[i]);
		if (!known[i].is_over)
			enter_frame(search, &known[i], stacks.items[i].frame);
	}
	tasks->of_stack = xcalloc(stacks.count, sizeof(*tasks->of_stack));
	tasks->may_block = xcalloc(stacks.count, sizeof(*tasks->may_block));
	for (stack_id i = 0; i < stacks.count; i++) {
		tasks->of_stack[i] = finished(search, &known[i]);
		tasks->may_block[i] = known[i].may_block;
	}
}

void tasks_find(struct tasks *tasks, const struct profile *profile)
{
	struct tasks_search search = {.tasks = tasks, .profile = profile, .names = strtab_new()};

	*tasks = (struct tasks){0};
	find_waits(&search);
	if (has_tasks(&search)) {
		find_rules(&search);
		tasks_walk(&search);
	}
	free(search.of_waits);
	free(search.rules);
	strtab_free(search.names);
	idmap_deinit(&search.functions);
	idmap_deinit(&search.types);
	idmap_deinit(&search.begun);
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
	uint32_t task = labelling->tasks->of_stack[sample->stack];

	if (task == NO_TASK)
		return sample->labels;
	return profile_add_label(labelling->profile, sample->labels,
				 &(struct profile_label){
					 .key = labelling->key,
					 .text = labelling->names[task],
				 });
}

static void count_polls(struct profile *profile, const struct tasks *tasks)
{
	const struct sample_order order = profile_sample_order(profile);
	const struct profile_samples samples = profile_samples(profile);
	CLEANUP(free_ptr) uint64_t *polls = xcalloc(tasks->count, sizeof(*polls));
	struct idmap last = {0}; /* thread → its task plus 1 */

	for (uint32_t i = 0; i < order.count; i++) {
		/* 0 means none */
		uint32_t task = tasks->of_stack[samples.items[order.items[i].sample].stack] + 1;
		uint32_t *before = idmap_put(&last, (uint32_t)order.items[i].tid, 0);

		if (task && task != *before)
			polls[task - 1]++;
		*before = task;
	}
	for (uint32_t i = 0; i < tasks->count; i++)
		if (polls[i])
			profile_add_polls(profile, tasks->items[i].name, polls[i]);
	idmap_deinit(&last);
}

/* Files contain labels of the program that wrote them. */
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
	if (!tasks.count)
		return;
	count_polls(profile, &tasks);
	profile_relabel(profile, label,
			&(struct labelling){
				.profile = profile,
				.tasks = &tasks,
				.key = key,
				.names = names,
			});
}
