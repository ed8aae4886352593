#include "cmd/report/report_leaks.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "profile/memory_events.h"
#include "report/label_values.h"

#include <string.h>

struct error *leaks_check(const struct profile *profile, const char *path)
{
	event_id event;

	if (memory_event_find(profile, MEMORY_INUSE_SPACE, &event))
		return NULL;
	return error_hint(error_new("%s does not contain memory in use", path),
			  "prof record --alloc -o FILE.pb.gz COMMAND records allocations");
}

/* Makes the view of another memory event. *has: the profile has the event;
 * otherwise there is no view. */
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

/* Makes the view of the bytes in use in one age bucket. */
static struct error *view_of_age(const struct view *view, const struct selection_options *selection,
				 const char *path, enum name_style names, unsigned age,
				 struct view *ret)
{
	CLEANUP(free_ptr)
	char *condition = xasprintf("%s=%s", ALLOCATION_AGE_LABEL, allocation_lifetime_name(age));
	size_t count = selection->labels.count;
	CLEANUP(free_ptr) char **labels = xcalloc(count + 1, sizeof(*labels));
	struct selection_options aged = *selection;

	for (size_t i = 0; i < count; i++)
		labels[i] = selection->labels.items[i];
	labels[count] = condition;
	aged.labels.items = labels;
	aged.labels.count++;
	aged.event = memory_event_name(MEMORY_INUSE_SPACE);
	return selection_view(&aged, view->profile, path, names, ret);
}

static struct error *add_ages(struct leaks *leaks, const struct view *view,
			      const struct selection_options *selection, const char *path,
			      enum name_style names)
{
	CLEANUP(error_cleanup)
	struct error *unknown = label_check_key(view->profile, ALLOCATION_AGE_LABEL);

	for (unsigned age = 0; age < ALLOCATION_LIFETIMES && !unknown; age++) {
		struct view aged;
		struct error *err = view_of_age(view, selection, path, names, age, &aged);

		if (err)
			return err;
		if (!aged.stacks[STACK_EMPTY].total.weight) {
			view_deinit(&aged);
			continue;
		}
		leaks->ages[age].view = aged;
		leaks->ages[age].has_rows = leaks->has_ages = true;
	}
	return NULL;
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
	return add_ages(leaks, view, selection, path, names);
}

void leaks_deinit(struct leaks *leaks)
{
	for (unsigned age = 0; age < ALLOCATION_LIFETIMES; age++) {
		if (!leaks->ages[age].has_rows)
			continue;
		rows_deinit(&leaks->ages[age].rows);
		view_deinit(&leaks->ages[age].view);
	}
	rows_deinit(&leaks->by_objects);
	if (leaks->has_objects)
		view_deinit(&leaks->objects);
}

static struct error *report_leaks_make_rows(struct rows *rows, const struct view *view,
					    const struct row_by *by)
{
	struct error *err = rows_init_by(rows, view, by);

	if (!err)
		rows_sort(rows, ROWS_BY_NAME);
	return err;
}

struct error *leaks_add_rows(struct leaks *leaks, const struct row_by *by)
{
	struct error *err = NULL;

	if (leaks->has_objects)
		err = report_leaks_make_rows(&leaks->by_objects, &leaks->objects, by);
	/* The rows are the ages. */
	if (by->key == ROW_LABEL && !strcmp(by->label, ALLOCATION_AGE_LABEL))
		leaks->has_ages = false;
	for (unsigned age = 0; age < ALLOCATION_LIFETIMES && !err; age++)
		if (leaks->has_ages && leaks->ages[age].has_rows)
			err = report_leaks_make_rows(&leaks->ages[age].rows, &leaks->ages[age].view,
						     by);
	return err;
}

static uint64_t find_weight(const struct rows *rows, const struct row *of)
{
	const struct row *row = rows_find(rows, of);

	return row ? row->self.weight : 0;
}

uint64_t leaks_objects(const struct leaks *leaks, const struct row *row)
{
	return find_weight(&leaks->by_objects, row);
}

uint64_t leaks_bytes_of_age(const struct leaks *leaks, const struct row *row, unsigned age)
{
	return leaks->ages[age].has_rows ? find_weight(&leaks->ages[age].rows, row) : 0;
}

char *leaks_ages(const struct leaks *leaks, const struct row *row)
{
	unsigned youngest = 0, oldest = ALLOCATION_LIFETIMES;

	while (youngest < ALLOCATION_LIFETIMES && !leaks_bytes_of_age(leaks, row, youngest))
		youngest++;
	if (youngest == ALLOCATION_LIFETIMES)
		return xstrdup("");
	while (!leaks_bytes_of_age(leaks, row, oldest - 1))
		oldest--;
	return allocation_lifetime_span(youngest, oldest - 1);
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
