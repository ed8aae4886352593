#include "report/view.h"

#include "base/alloc.h"
#include "profile/memory_events.h"
#include "report/allocating_place.h"
#include "report/idle.h"
#include "report/label_values.h"
#include "report/match.h"
#include "report/waiting_place.h"

#include <fnmatch.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FOCUS = 1, IGNORED = 2 };

static struct error *report_view_compile(regex_t *regex, const char *expression)
{
	int error = regcomp(regex, expression, REG_EXTENDED | REG_NOSUB);
	char why[128];

	if (!error)
		return NULL;
	regerror(error, regex, why, sizeof(why));
	return error_hint(
		error_new("\"%s\" is not a regular expression: %s", expression, why),
		"to find these characters in a name, put a \\ before each of ( [ * + ? { | .");
}

/* Sets the bit of each label whose name matches the expression. */
static struct error *mark_labels(const struct display_labels *labels, const char *expression,
				 unsigned char bit, unsigned char *marks)
{
	regex_t regex;
	struct error *err = expression ? report_view_compile(&regex, expression) : NULL;

	if (err || !expression)
		return err;
	for (uint32_t i = 0; i < labels->count; i++)
		if (regexec(&regex, labels->items[i].name, 0, NULL, 0) == 0 ||
		    regexec(&regex, labels->items[i].shown, 0, NULL, 0) == 0)
			marks[i] |= bit;
	regfree(&regex);
	return NULL;
}

static unsigned char marks_of_frame(const struct display_labels *labels, frame_id frame,
				    const unsigned char *marks)
{
	unsigned char all = 0;

	for (uint32_t i = labels->first_line[frame]; i < labels->first_line[frame + 1]; i++)
		all |= marks[labels->lines[i].label];
	return all;
}

/*
 * Compares the text first, because a name with brackets such as "[kernel]" does
 * not match itself as a pattern.
 */
static bool report_view_is_named(const char *text, const char *pattern)
{
	return !strcmp(text, pattern) || fnmatch(pattern, text, 0) == 0;
}

static bool report_view_is_one_of(const char *name, const char *path, const char *list)
{
	CLEANUP(free_ptr) char *copy = xstrdup(list);
	char *rest = copy, *pattern;

	while ((pattern = strsep(&rest, ",")))
		if (*pattern &&
		    (report_view_is_named(name, pattern) || report_view_is_named(path, pattern)))
			return true;
	return false;
}

/* A sample belongs to the module of its innermost frame. */
static void select_modules(struct view *view, const char *list)
{
	const struct profile *profile = view->profile;
	const struct profile_stacks all_stacks = profile_stacks(profile);
	uint32_t stacks = all_stacks.count, modules = profile_module_count(profile);
	CLEANUP(free_ptr) bool *chosen = xcalloc(modules, sizeof(*chosen));

	for (uint32_t i = 0; i < modules; i++) {
		const char *path = profile_string(profile, profile_get_module(profile, i)->path);

		chosen[i] = report_view_is_one_of(display_module_name(profile, i), path, list);
	}
	if (!view->excluded)
		view->excluded = xcalloc(stacks, sizeof(*view->excluded));
	for (stack_id i = 1; i < stacks; i++) {
		frame_id leaf = all_stacks.items[i].frame;
		uint32_t module = profile_get_frame(profile, leaf).module;

		view->excluded[i] |= module >= modules || !chosen[module];
	}
}

/* A stack contains the functions of its parent. */
static struct error *select_stacks(struct view *view, const struct view_options *options)
{
	const struct profile_stacks all_stacks = profile_stacks(view->profile);
	uint32_t stacks = all_stacks.count;
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
	in = view->excluded = xcalloc(stacks, sizeof(*in));
	for (stack_id i = 1; i < stacks; i++) {
		struct profile_stack stack = all_stacks.items[i];

		in[i] = in[stack.parent] | marks_of_frame(&view->labels, stack.frame, marks);
	}
	for (stack_id i = 0; i < stacks; i++)
		in[i] = in[i] != wanted;
	return NULL;
}

static struct error *select_label_sets(struct view *view, const struct view_options *options)
{
	uint32_t count = profile_label_set_count(view->profile);
	struct error *err = NULL;

	if (!options->process && !options->pid && !options->tid && !options->label_count)
		return NULL;
	view->label_sets = xcalloc(count, sizeof(*view->label_sets));
	for (label_set_id i = 0; i < count; i++) {
		const struct profile_thread *thread = profile_thread_of(view->profile, i);

		view->label_sets[i] =
			(!options->pid || options->pid == thread->pid) &&
			(!options->tid || options->tid == thread->tid) &&
			(!options->process ||
			 !strcmp(options->process, profile_string(view->profile, thread->process)));
	}
	for (size_t i = 0; !err && i < options->label_count; i++)
		err = label_filter(view->profile, options->labels[i], view->label_sets);
	return err;
}

static void report_view_hide_idle(struct view *view)
{
	const struct profile_samples samples = profile_samples(view->profile);
	CLEANUP(free_ptr) bool *idle = idle_samples(&view->labels);
	struct sum shown = {0}, hidden = {0};
	/* A smaller rest is what idle threads do when they wake up. */
	enum { PARTS_OF_IDLE = 1000 };

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (view_has(view, sample))
			sum_add(idle[i] ? &hidden : &shown,
				(struct sum){sample->samples, sample->weight});
	}
	if (!hidden.weight || shown.weight <= hidden.weight / PARTS_OF_IDLE)
		return;
	view->idle = STEAL(idle);
	view->idle_sum = hidden;
}

static void report_view_add_samples(struct view *view)
{
	const struct profile_samples samples = profile_samples(view->profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (view_has(view, sample))
			sum_add(&view->stacks[sample->stack].total,
				(struct sum){sample->samples, sample->weight});
	}
}

/* Children have higher ids than their parents, so the loop adds up each child before its parent. */
static void report_view_add_up(struct view *view)
{
	const struct profile_stacks stacks = profile_stacks(view->profile);

	for (stack_id i = stacks.count; i-- > 1;) {
		struct view_stack *stack = &view->stacks[i], *parent;
		struct profile_stack of = stacks.items[i];

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

static bool is_waiting(const struct profile *profile, event_id id)
{
	const struct profile_event *event = id < profile_event_count(profile)
						    ? profile_get_event(profile, id)
						    : NULL;
	const char *name = event ? profile_string(profile, event->name) : "";

	return event && (event->kind == VALUE_OFF_CPU_TIME || !strcmp(name, VALUE_ELAPSED_EVENT) ||
			 !strcmp(name, VALUE_CRITICAL_PATH_EVENT));
}

struct error *view_init_selected(struct view *view, const struct profile *profile,
				 const struct view_options *options)
{
	uint32_t stacks = profile_stacks(profile).count;
	struct error *err;

	*view = (struct view){.profile = profile, .event = options->event};
	display_labels_init_named(&view->labels, profile, options->names);
	view->is_waiting = is_waiting(profile, options->event);
	if (view->is_waiting)
		view->places = waiting_places(&view->labels);
	else if (memory_is_got(profile, options->event))
		view->places = allocating_places(&view->labels);
	err = select_stacks(view, options);
	if (!err)
		err = select_label_sets(view, options);
	if (err) {
		view_deinit(view);
		return err;
	}
	if (options->modules)
		select_modules(view, options->modules);
	if (options->hides_idle && view->is_waiting)
		report_view_hide_idle(view);
	view->stacks = xcalloc(stacks, sizeof(*view->stacks));
	report_view_add_samples(view);
	report_view_add_up(view);
	return NULL;
}

void view_init(struct view *view, const struct profile *profile, event_id event)
{
	/* Without an expression the call cannot fail. */
	error_free(view_init_selected(view, profile, &(struct view_options){.event = event}));
}

void view_deinit(struct view *view)
{
	display_labels_deinit(&view->labels);
	free(view->excluded);
	free(view->idle);
	free(view->label_sets);
	free(view->stacks);
	free(view->places);
	*view = (struct view){0};
}

struct sum view_event_sum(const struct profile *profile, event_id event)
{
	const struct profile_samples samples = profile_samples(profile);
	struct sum sum = {0};

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (sample->event == event)
			sum_add(&sum, (struct sum){sample->samples, sample->weight});
	}
	return sum;
}

static uint32_t leaf_line(const struct view *view, stack_id stack)
{
	return view->labels.first_line[view->stacks[stack].frame + 1] - 1;
}

uint32_t view_self_line(const struct view *view, stack_id stack)
{
	return view->places ? view->places[stack] : leaf_line(view, stack);
}

uint32_t view_leaf_label(const struct view *view, stack_id stack)
{
	return view->labels.lines[leaf_line(view, stack)].label;
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
		/*
		 * Leaves this stack, and its callers while they have no more
		 * children.
		 */
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
	const struct display_labels *labels = &view->labels;
	CLEANUP(free_ptr) unsigned char *marks = xcalloc(labels->count, sizeof(*marks));
	bool found = false;
	struct error *err = NULL;

	for (uint32_t i = 0; i < labels->count; i++)
		found |= marks[i] = !strcmp(labels->items[i].name, name) ||
				    !strcmp(labels->items[i].shown, name);
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
