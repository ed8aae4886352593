#include "cmd/options/selection.h"

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "profile/allocation_classes.h"
#include "profile/memory_events.h"
#include "profile/tasks.h"
#include "report/label_values.h"
#include "report/parallelism.h"

#include <string.h>

void selection_options_deinit(struct selection_options *options)
{
	option_list_deinit(&options->labels);
}

struct error *selection_take_by(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"function", ROW_FUNCTION},
						       {"module", ROW_MODULE},
						       {"process", ROW_PROCESS},
						       {"thread", ROW_THREAD},
						       {"file", ROW_FILE},
						       {"line", ROW_LINE},
						       {TASK_LABEL, ROW_LABEL},
						       {ALLOCATION_SIZE_LABEL, ROW_LABEL},
						       {ALLOCATION_LIFETIME_LABEL, ROW_LABEL},
						       {ALLOCATION_AGE_LABEL, ROW_LABEL},
						       {"label:KEY", ROW_LABEL},
						       {"field:NAME", ROW_LABEL},
						       {0}};
	static const char *const labels[] = {TASK_LABEL, ALLOCATION_SIZE_LABEL,
					     ALLOCATION_LIFETIME_LABEL, ALLOCATION_AGE_LABEL};
	/* A field of a tracepoint is a label, too. */
	static const char *const prefixes[] = {"label:", "field:"};
	struct row_by *by = field;

	*by = (struct row_by){0};
	for (size_t i = 0; i < ARRAY_SIZE(labels); i++) {
		if (strcmp(argument, labels[i]) != 0)
			continue;
		by->key = ROW_LABEL;
		by->label = labels[i];
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (!text_begins(argument, prefixes[i]) || !argument[strlen(prefixes[i])])
			continue;
		by->key = ROW_LABEL;
		by->label = argument + strlen(prefixes[i]);
		return NULL;
	}
	return option_choice("table", choices, argument, (int *)&by->key);
}

struct error *selection_take_number(void *field, const char *argument)
{
	uint64_t number = 0;
	struct error *err = option_count(&number, argument);

	if (!err && number > INT32_MAX)
		err = error_new("\"%s\" is too large", argument);
	if (!err)
		*(pid_t *)field = (pid_t)number;
	return err;
}

/* Returns "cpu-clock, page-faults". The caller frees it. */
static char *selection_names_of_events(const struct profile *profile)
{
	char *names = NULL;
	size_t len;
	FILE *out = open_memstream(&names, &len);

	for (event_id i = 0; i < profile_event_count(profile); i++)
		fprintf(out, "%s%s", i ? ", " : "",
			profile_string(profile, profile_get_event(profile, i)->name));
	fclose(out);
	return names;
}

static struct error *no_such_event(const char *wanted, const struct profile *profile,
				   const char *path)
{
	uint32_t count = profile_event_count(profile);
	CLEANUP(free_ptr) char *names = selection_names_of_events(profile);
	CLEANUP(free_ptr)
	const char **candidates = xcalloc((size_t)count + 1, sizeof(*candidates));
	const char *near;

	for (event_id i = 0; i < count; i++)
		candidates[i] = profile_string(profile, profile_get_event(profile, i)->name);
	if (!strcmp(wanted, VALUE_ELAPSED_EVENT))
		return error_hint(error_new("%s has no event \"%s\"", path, wanted),
				  "prof record --elapsed records it, and --elapsed adds it to a "
				  "perf.data file; its events are: %s",
				  names);
	near = nearest(wanted, candidates);
	return error_hint(error_new("%s has no event \"%s\"", path, wanted),
			  "%s%s%sits events are: %s", near ? "did you mean " : "", near ? near : "",
			  near ? "? " : "", names);
}

struct error *selection_find_event(const char *name, const struct profile *profile,
				   const char *path, event_id *ret)
{
	uint32_t count = profile_event_count(profile);

	if (!count)
		return error_new("%s has no samples", path);
	*ret = memory_shown_event(profile);
	if (!name)
		return NULL;
	for (*ret = 0; *ret < count; ++*ret) {
		string_id id = profile_get_event(profile, *ret)->name;

		if (!strcmp(profile_string(profile, id), name))
			return NULL;
	}
	return no_such_event(name, profile, path);
}

struct error *selection_view(const struct selection_options *options, const struct profile *profile,
			     const char *path, enum name_style names, struct view *ret)
{
	struct view_options wanted = options->view;
	const char *event = options->event || !options->parallelism ? options->event
								    : VALUE_ELAPSED_EVENT;
	struct error *err = selection_find_event(event, profile, path, &wanted.event);
	CLEANUP(free_ptr) char *parallelism = NULL;
	CLEANUP(free_ptr)
	const char **labels = xcalloc(options->labels.count + 1, sizeof(*labels));

	wanted.names = names;
	wanted.labels = labels;
	wanted.label_count = options->labels.count;
	for (size_t i = 0; i < options->labels.count; i++)
		labels[i] = options->labels.items[i];
	if (options->parallelism) {
		parallelism = xasprintf(PARALLELISM_LABEL "=%s", options->parallelism);
		labels[wanted.label_count++] = parallelism;
	}
	return err ? err : view_init_selected(ret, profile, &wanted);
}

struct error *selection_by_parallelism(const char *range, const struct profile *profile,
				       const char *path, bool *keeps)
{
	const struct profile_samples samples = profile_samples(profile);
	CLEANUP(free_ptr) char *condition = xasprintf(PARALLELISM_LABEL "=%s", range);
	CLEANUP(free_ptr)
	bool *sets = xcalloc(profile_label_set_count(profile) + (size_t)1, sizeof(*sets));
	event_id elapsed;
	struct error *err = selection_find_event(VALUE_ELAPSED_EVENT, profile, path, &elapsed);

	for (label_set_id i = 0; i < profile_label_set_count(profile); i++)
		sets[i] = true;
	if (!err)
		err = label_filter(profile, condition, sets);
	for (uint64_t i = 0; !err && i < samples.count; i++)
		keeps[i] = samples.items[i].event != elapsed || sets[samples.items[i].labels];
	return err;
}

bool selection_is_part(const struct selection_options *options)
{
	const struct view_options *view = &options->view;

	return view->focus || view->ignore || view->modules || view->process || view->pid ||
	       view->tid || options->labels.count || options->parallelism;
}
