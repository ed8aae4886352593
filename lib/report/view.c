#include "report/view.h"

#include "base/alloc.h"
#include "report/match.h"
#include "report/words.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FOCUS = 1, IGNORED = 2 };

static struct error *compile(regex_t *regex, const char *expression)
{
	int error = regcomp(regex, expression, REG_EXTENDED | REG_NOSUB);
	char why[128];

	if (!error)
		return NULL;
	regerror(error, regex, why, sizeof(why));
	return error_hint(error_new("\"%s\" is not a regular expression: %s", expression, why),
			  "a name with ( [ * + ? { | or . in it needs a \\ before each of them");
}

/* Sets the bit of each label whose name has the expression in it. */
static struct error *mark_labels(const struct labels *labels, const char *expression,
				 unsigned char bit, unsigned char *marks)
{
	regex_t regex;
	struct error *err = expression ? compile(&regex, expression) : NULL;

	if (err || !expression)
		return err;
	for (uint32_t i = 0; i < labels->count; i++)
		if (regexec(&regex, labels->items[i].name, 0, NULL, 0) == 0)
			marks[i] |= bit;
	regfree(&regex);
	return NULL;
}

static unsigned char marks_of_frame(const struct labels *labels, frame_id frame,
				    const unsigned char *marks)
{
	unsigned char all = 0;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		all |= marks[labels->lines[i].label];
	return all;
}

/* A name with brackets, as the kernel's, is no pattern of itself. */
static bool is_named(const char *text, const char *pattern)
{
	return !strcmp(text, pattern) || fnmatch(pattern, text, 0) == 0;
}

static bool is_one_of(const char *name, const char *path, const char *list)
{
	CLEANUP(free_ptr) char *copy = xstrdup(list);
	char *rest = copy, *pattern;

	while ((pattern = strsep(&rest, ",")))
		if (*pattern && (is_named(name, pattern) || is_named(path, pattern)))
			return true;
	return false;
}

/* Where a sample was taken is the innermost frame of its stack. */
static void select_modules(struct view *view, const char *list)
{
	const struct profile *profile = view->profile;
	uint32_t stacks = profile_stack_count(profile), modules = profile_module_count(profile);
	CLEANUP(free_ptr) bool *chosen = xcalloc(modules, sizeof(*chosen));

	for (uint32_t i = 0; i < modules; i++) {
		const char *path = profile_string(profile, profile_get_module(profile, i)->path);

		chosen[i] = is_one_of(words_of_module(profile, i), path, list);
	}
	if (!view->passed_over)
		view->passed_over = xcalloc(stacks, sizeof(*view->passed_over));
	for (stack_id i = 1; i < stacks; i++) {
		frame_id leaf = profile_get_stack(profile, i).frame;
		uint32_t module = profile_get_frame(profile, leaf).module;

		view->passed_over[i] |= module >= modules || !chosen[module];
	}
}

/* What is in a stack is in all that go on from it. */
static struct error *select_stacks(struct view *view, const struct view_options *options)
{
	uint32_t stacks = profile_stack_count(view->profile);
	unsigned char wanted = options->focus ? IN_FOCUS : 0;
	CLEANUP(free_ptr) unsigned char *marks = xcalloc(view->labels.count, sizeof(*marks));
	unsigned char *in;
	struct error *err;

	if (!options->focus && !options->ignore)
		return NULL;
	err = mark_labels(&view->labels, options->focus, IN_FOCUS, marks);
	if (!err)
		err = mark_labels(&view->labels, options->ignore, IGNORED, marks);
	if (err)
		return err;
	in = view->passed_over = xcalloc(stacks, sizeof(*in));
	for (stack_id i = 1; i < stacks; i++) {
		struct profile_stack stack = profile_get_stack(view->profile, i);

		in[i] = in[stack.parent] | marks_of_frame(&view->labels, stack.frame, marks);
	}
	for (stack_id i = 0; i < stacks; i++)
		in[i] = in[i] != wanted;
	return NULL;
}

static void select_threads(struct view *view, const struct view_options *options)
{
	uint32_t count = profile_thread_count(view->profile);

	if (!options->process && !options->pid && !options->tid)
		return;
	view->threads = xcalloc(count, sizeof(*view->threads));
	for (thread_id i = 0; i < count; i++) {
		const struct profile_thread *thread = profile_get_thread(view->profile, i);

		view->threads[i] =
			(!options->pid || options->pid == thread->pid) &&
			(!options->tid || options->tid == thread->tid) &&
			(!options->process ||
			 !strcmp(options->process, profile_string(view->profile, thread->process)));
	}
}

static void add_samples(struct view *view)
{
	for (uint64_t i = 0; i < profile_cell_count(view->profile); i++) {
		const struct profile_cell *cell = profile_get_cell(view->profile, i);

		if (view_has(view, cell))
			sum_add(&view->stacks[cell->stack].total,
				(struct sum){cell->samples, cell->weight});
	}
}

/* A parent's id is below its children's: from the last to the first all is added up. */
static void add_up(struct view *view)
{
	for (stack_id i = profile_stack_count(view->profile); i-- > 1;) {
		struct view_stack *stack = &view->stacks[i], *parent;
		struct profile_stack of = profile_get_stack(view->profile, i);

		stack->parent = of.parent;
		stack->frame = of.frame;
		if (!stack->total.samples && !stack->total.weight)
			continue;
		parent = &view->stacks[of.parent];
		sum_add(&parent->total, stack->total);
		stack->next_sibling = parent->first_child;
		parent->first_child = i;
	}
}

struct error *view_init_selected(struct view *view, const struct profile *profile,
				 const struct view_options *options)
{
	uint32_t stacks = profile_stack_count(profile);
	struct error *err;

	*view = (struct view){.profile = profile, .event = options->event};
	labels_init(&view->labels, profile);
	err = select_stacks(view, options);
	if (err) {
		view_deinit(view);
		return err;
	}
	if (options->modules)
		select_modules(view, options->modules);
	select_threads(view, options);
	view->stacks = xcalloc(stacks, sizeof(*view->stacks));
	add_samples(view);
	add_up(view);
	return NULL;
}

void view_init(struct view *view, const struct profile *profile, event_id event)
{
	/* Without an expression nothing can fail. */
	error_free(view_init_selected(view, profile, &(struct view_options){.event = event}));
}

void view_deinit(struct view *view)
{
	labels_deinit(&view->labels);
	free(view->passed_over);
	free(view->threads);
	free(view->stacks);
	*view = (struct view){0};
}

struct sum view_event_sum(const struct profile *profile, event_id event)
{
	struct sum sum = {0};

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		if (cell->event == event)
			sum_add(&sum, (struct sum){cell->samples, cell->weight});
	}
	return sum;
}

struct sum view_self(const struct view *view, stack_id stack)
{
	struct sum self = view->stacks[stack].total;

	for (stack_id i = view->stacks[stack].first_child; i; i = view->stacks[i].next_sibling)
		sum_subtract(&self, view->stacks[i].total);
	return self;
}

void view_walk(const struct view *view, view_visit *enter, view_visit *leave, void *user)
{
	const struct view_stack *stacks = view->stacks;
	stack_id at = stacks[STACK_EMPTY].first_child;

	while (at) {
		__builtin_prefetch(&stacks[stacks[at].next_sibling]);
		enter(user, at);
		if (stacks[at].first_child) {
			at = stacks[at].first_child;
			continue;
		}
		/* Leaves this stack, and its callers as long as they have no more children. */
		for (; at; at = stacks[at].parent) {
			leave(user, at);
			if (stacks[at].next_sibling) {
				at = stacks[at].next_sibling;
				break;
			}
		}
	}
}

struct error *view_functions(const struct view *view, const char *name, bool **ret, uint32_t *count)
{
	const struct labels *labels = &view->labels;
	CLEANUP(free_ptr) unsigned char *marks = xcalloc(labels->count, sizeof(*marks));
	bool found = false;
	struct error *err = NULL;

	for (uint32_t i = 0; i < labels->count; i++)
		found |= marks[i] = !strcmp(labels->items[i].name, name);
	for (uint32_t i = 0; !found && i < labels->count; i++)
		marks[i] = match_own_name(labels->items[i].name, name);
	if (!found && (!labels->count || !memchr(marks, true, labels->count)))
		err = mark_labels(labels, name, true, marks);
	if (err)
		return err;
	*ret = xcalloc(labels->count, sizeof(**ret));
	*count = 0;
	for (uint32_t i = 0; i < labels->count; i++)
		*count += (*ret)[i] = marks[i];
	return NULL;
}
