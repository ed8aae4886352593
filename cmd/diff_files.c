#include "cmd/diff_files.h"

#include "base/alloc.h"
#include "report/merge.h"

#include <string.h>

enum { BEFORE, AFTER, SIDES };

struct error *diff_files_read(struct diff_files *files, const struct option_list *old,
			      const struct option_list *new, const struct input_options *options)
{
	size_t count = old->count + new->count;

	*files = (struct diff_files){.items = xcalloc(count, sizeof(*files->items)),
				     .old_count = old->count};
	while (files->count < count) {
		struct diff_file *file = &files->items[files->count];
		struct error *err;

		file->path = files->count < old->count ? old->items[files->count]
						       : new->items[files->count - old->count];
		err = input_read(file->path, options, &file->input);
		if (err)
			return err;
		files->count++;
	}
	return NULL;
}

void diff_files_deinit(struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		input_deinit(&files->items[i].input);
	free(files->items);
}

static const char *text_of(const struct diff_file *file, string_id id)
{
	return profile_string(file->input.profile, id);
}

static const struct profile_event *event_at(const struct diff_file *file, event_id event)
{
	return profile_get_event(file->input.profile, event);
}

static const struct profile_event *event_of(const struct diff_file *file)
{
	return event_at(file, file->event);
}

/* What the clocks of CPUs count has several names. */
static const char *common_name(const char *name)
{
	return strcmp(name, "cpu-clock") && strcmp(name, "task-clock") ? name : "cpu";
}

static bool is_called(const struct diff_file *file, event_id id, const char *name)
{
	return !strcmp(common_name(text_of(file, event_at(file, id)->name)), common_name(name));
}

/* A recording that was cut short may have no event at all. */
static bool is_of_anything(const struct diff_file *file, event_id id)
{
	const struct profile_event *event;

	if (id >= profile_event_count(file->input.profile))
		return false;
	event = event_at(file, id);
	return event->one_value && !strcmp(text_of(file, event->name), "samples");
}

static bool find_event(struct diff_file *file, const char *name)
{
	for (event_id i = 0; i < profile_event_count(file->input.profile); i++) {
		if (!is_of_anything(file, i) && !is_called(file, i, name))
			continue;
		file->event = i;
		return true;
	}
	return false;
}

static bool all_have(struct diff_files *files, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (!find_event(&files->items[i], name))
			return false;
	return true;
}

/* "cpu, page-faults"; to be freed. */
static char *events_of(const struct diff_file *file)
{
	char *names = xstrdup("");

	for (event_id i = 0; i < profile_event_count(file->input.profile); i++) {
		CLEANUP(free_ptr) char *before = names;

		names = xasprintf("%s%s%s", before, *before ? ", " : "",
				  text_of(file, event_at(file, i)->name));
	}
	return *names ? names : strcpy(xreallocarray(names, 1, sizeof("no event")), "no event");
}

static struct error *no_common_event(const struct diff_files *files, const char *name)
{
	const struct diff_file *old = &files->items[0], *new = &files->items[files->count - 1];
	CLEANUP(free_ptr) char *old_events = events_of(old);
	CLEANUP(free_ptr) char *new_events = events_of(new);

	return error_hint(name ? error_new("not all files have the event %s", name)
			       : error_new("the files have no event in common"),
			  "%s has %s; %s has %s", old->path, old_events, new->path, new_events);
}

static void measure(struct diff_file *file)
{
	const struct profile *profile = file->input.profile;

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		if (cell->event != file->event)
			continue;
		file->whole.samples += (double)cell->samples;
		file->whole.weight += (double)cell->weight;
	}
}

static struct diff_file *one_that_says(const struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!is_of_anything(&files->items[i], 0))
			return &files->items[i];
	return &files->items[0];
}

struct error *diff_files_choose_event(struct diff_files *files, const char *name)
{
	const struct diff_file *file = one_that_says(files);
	bool found = name && all_have(files, name);

	for (event_id i = 0; !name && !found && i < profile_event_count(file->input.profile); i++)
		found = all_have(files, text_of(file, event_at(file, i)->name));
	if (!found)
		return no_common_event(files, name);
	for (size_t i = 0; i < files->count; i++) {
		measure(&files->items[i]);
		files->by_samples = files->by_samples ||
				    is_of_anything(&files->items[i], files->items[i].event);
	}
	return NULL;
}

const struct profile_event *diff_files_event(const struct diff_files *files, const char **name)
{
	const struct diff_file *file = one_that_says(files);

	*name = text_of(file, event_of(file)->name);
	return event_of(file);
}

bool diff_files_are_runs(const struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!profile_get_info(files->items[i].input.profile)->is_run)
			return false;
	return true;
}

/* 0: they are counted. Else they follow from the period, or a thread's stack is taken for one. */
static double samples_per_weight(const struct diff_file *file)
{
	const struct profile *profile = file->input.profile;
	const struct profile_event *event = event_of(file);
	bool is_count = !strcmp(text_of(file, event->unit), "count");
	uint64_t cells = 0;

	if (file->whole.samples > 0 && (!event->one_value || is_count))
		return 0;
	if (event->period)
		return 1 / (double)event->period;
	for (uint64_t i = 0; i < profile_cell_count(profile); i++)
		cells += profile_get_cell(profile, i)->event == file->event;
	return file->whole.weight > 0 ? (double)cells / file->whole.weight : 0;
}

double *diff_files_samples_per_weight(const struct diff_files *files, bool *is_guess)
{
	double *list = xcalloc(files->count, sizeof(*list));

	*is_guess = false;
	for (size_t i = 0; i < files->count; i++) {
		list[i] = samples_per_weight(&files->items[i]);
		*is_guess = *is_guess || list[i] > 0;
	}
	return list;
}

static double threads_of(const struct diff_file *file)
{
	const struct profile *profile = file->input.profile;
	uint32_t count = profile_thread_count(profile);
	CLEANUP(free_ptr) bool *is_there = xcalloc(count, sizeof(*is_there));
	double threads = 0;

	for (uint64_t i = 0; i < profile_cell_count(profile); i++) {
		const struct profile_cell *cell = profile_get_cell(profile, i);

		if (cell->event == file->event)
			is_there[cell->thread] = true;
	}
	for (thread_id i = 0; i < count; i++) {
		if (is_there[i] && profile_get_thread(profile, i)->tid < 0)
			return 0;
		threads += is_there[i];
	}
	return threads;
}

double *diff_files_threads(const struct diff_files *files)
{
	double *list = xcalloc(files->count, sizeof(*list));

	for (size_t i = 0; i < files->count; i++)
		list[i] = threads_of(&files->items[i]);
	return list;
}

struct profile *diff_files_merge(const struct diff_files *files)
{
	CLEANUP(free_ptr) struct merge_input *inputs = xcalloc(files->count, sizeof(*inputs));
	CLEANUP(free_ptr) struct merge_column *columns = xcalloc(files->count, sizeof(*columns));

	for (size_t i = 0; i < files->count; i++) {
		inputs[i] = (struct merge_input){
			.profile = files->items[i].input.profile,
			.event = files->items[i].event,
			.column = (uint32_t)i,
			.sample_scale = 1,
			.weight_scale = 1,
		};
		snprintf(columns[i].name, sizeof(columns[i].name), "%zu", i);
	}
	return merge_profiles(inputs, files->count, columns, (uint32_t)files->count);
}

static struct measurement sum_of_side(const struct diff_files *files, int side)
{
	size_t first = side == BEFORE ? 0 : files->old_count;
	size_t end = side == BEFORE ? files->old_count : files->count;
	struct measurement sum = {0};

	for (size_t i = first; i < end; i++) {
		sum.samples += files->items[i].whole.samples;
		sum.weight += files->items[i].whole.weight;
	}
	return sum;
}

/* By side. The smaller one is 1, lest counts are rounded away. */
static void find_scales(const struct diff_files *files, bool of_shares, double scales[SIDES])
{
	double smaller;

	for (int i = 0; i < SIDES; i++) {
		struct measurement sum = sum_of_side(files, i);
		double recordings = (double)(i == BEFORE ? files->old_count
							 : files->count - files->old_count);

		scales[i] = 1 / (!of_shares	     ? recordings
				 : files->by_samples ? sum.samples
						     : sum.weight);
	}
	smaller = scales[BEFORE] < scales[AFTER] ? scales[BEFORE] : scales[AFTER];
	for (int i = 0; i < SIDES; i++)
		scales[i] /= smaller;
}

/* Samples of one side may stand for more than those of the other. */
static double sample_scale(const struct diff_files *files, int side)
{
	struct measurement sum = sum_of_side(files, side), after = sum_of_side(files, AFTER);

	if (files->by_samples || !(sum.samples > 0) || !(after.samples > 0))
		return 1;
	return sum.weight / sum.samples / (after.weight / after.samples);
}

struct profile *diff_files_merge_sides(const struct diff_files *files, bool of_shares)
{
	CLEANUP(free_ptr) struct merge_input *inputs = xcalloc(files->count, sizeof(*inputs));
	const char *name;
	const struct profile_event *event = diff_files_event(files, &name);
	struct merge_column columns[] = {{.name = "after", .counts_ns = event->counts_ns},
					 {.name = "before", .counts_ns = event->counts_ns}};
	double scales[SIDES];

	find_scales(files, of_shares, scales);
	for (size_t i = 0; i < files->count; i++) {
		int side = i < files->old_count ? BEFORE : AFTER;

		inputs[i] = (struct merge_input){
			.profile = files->items[i].input.profile,
			.event = files->items[i].event,
			.column = side == BEFORE,
			.sample_scale = scales[side] * sample_scale(files, side),
			.weight_scale = scales[side],
		};
	}
	return merge_profiles(inputs, files->count, columns, ARRAY_SIZE(columns));
}
