#include "cmd/report_leaks.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "profile/memory_events.h"

#include <string.h>

struct error *leaks_check(const struct profile *profile, const char *path)
{
	event_id event;

	if (memory_event_find(profile, MEMORY_INUSE_SPACE, &event))
		return NULL;
	return error_hint(error_new("%s does not say what memory was in use", path),
			  "prof record --alloc -o FILE.pb.gz COMMAND records allocations");
}

/* The view of another event of memory. *has: the profile has the event; else there is no view. */
static struct error *view_beside(const struct view *view, const struct selection_options *selection,
				 const char *path, enum name_style names, enum memory_event which,
				 bool *has, struct view *ret)
{
	struct selection_options other = *selection;
	event_id event;
	struct error *err;

	if (!memory_event_find(view->profile, which, &event))
		return NULL;
	other.event = memory_event_name(which);
	err = selection_view(&other, view->profile, path, names, ret);
	*has = !err;
	return err;
}

struct error *leaks_init(struct leaks *leaks, const struct view *view,
			 const struct selection_options *selection, const char *path,
			 enum name_style names)
{
	struct view allocated;
	struct error *err = view_beside(view, selection, path, names, MEMORY_INUSE_OBJECTS,
					&leaks->has_objects, &leaks->objects);

	leaks->bytes = view->stacks[STACK_EMPTY].total.weight;
	if (!err)
		err = view_beside(view, selection, path, names, MEMORY_ALLOC_SPACE,
				  &leaks->has_allocated, &allocated);
	if (err || !leaks->has_allocated)
		return err;
	leaks->allocated = allocated.stacks[STACK_EMPTY].total.weight;
	view_deinit(&allocated);
	return NULL;
}

void leaks_deinit(struct leaks *leaks)
{
	rows_deinit(&leaks->by_objects);
	if (leaks->has_objects)
		view_deinit(&leaks->objects);
}

struct error *leaks_add_rows(struct leaks *leaks, const struct row_by *by)
{
	return leaks->has_objects ? rows_init_by(&leaks->by_objects, &leaks->objects, by) : NULL;
}

/* Views of one profile have the same labels, threads and files. */
static bool is_same(const struct row *one, const struct row *other)
{
	return one->label == other->label && one->module == other->module &&
	       one->file == other->file && one->line == other->line &&
	       one->thread == other->thread && !strcmp(one->name, other->name);
}

uint64_t leaks_objects(const struct leaks *leaks, const struct row *row)
{
	for (size_t i = 0; i < leaks->by_objects.count; i++)
		if (is_same(&leaks->by_objects.items[i], row))
			return leaks->by_objects.items[i].self.weight;
	return 0;
}

void leaks_header(const struct leaks *leaks, const struct table_writer *writer)
{
	const struct profile *profile = writer->view->profile;
	event_id event = writer->view->event;

	if (!leaks->bytes) {
		fputs("\nnothing was in use at the end", writer->out);
	} else {
		fprintf(writer->out, "\nin use at the end: %s",
			profile_humanize_weight(profile, event, leaks->bytes).text);
		if (leaks->has_objects)
			fprintf(writer->out, " in %s objects",
				humanize_count(leaks->objects.stacks[STACK_EMPTY].total.weight)
					.text);
	}
	if (leaks->allocated)
		fprintf(writer->out, ", %s of the %s that were allocated",
			humanize_share(leaks->bytes, leaks->allocated).text,
			profile_humanize_weight(profile, event, leaks->allocated).text);
	fputc('\n', writer->out);
}
