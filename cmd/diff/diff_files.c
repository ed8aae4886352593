#include "cmd/diff/diff_files.h"

#include "base/alloc.h"
#include "report/harness.h"
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
		if (options->logical == LOGICAL_YES)
			input_make_logical(&file->input);
		files->count++;
	}
	return NULL;
}

void diff_files_deinit(struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++) {
		free(files->items[i].label_sets);
		label_values_deinit(&files->items[i].values);
		input_deinit(&files->items[i].input);
	}
	free(files->items);
}

static struct error *select_samples(struct diff_file *file, const struct option_list *conditions)
{
	const struct profile *profile = file->input.profile;
	uint32_t count = profile_label_set_count(profile);
	struct error *err = NULL;

	if (conditions->count && !file->label_sets) {
		file->label_sets = xcalloc(count, sizeof(*file->label_sets));
		memset(file->label_sets, true, count * sizeof(*file->label_sets));
	}
	for (size_t i = 0; !err && i < conditions->count; i++)
		err = label_filter(profile, conditions->items[i], file->label_sets);
	return err;
}

struct error *diff_files_select(struct diff_files *files, const struct diff_conditions *conditions,
				const char *label)
{
	for (size_t i = 0; i < files->count; i++) {
		struct diff_file *file = &files->items[i];
		struct error *err = select_samples(file, conditions->all);

		if (!err)
			err = select_samples(file, i < files->old_count ? conditions->old
									: conditions->new);
		if (!err && label)
			err = label_values_init(&file->values, file->input.profile, label);
		if (err)
			return error_wrap(err, "%s", file->path);
	}
	return NULL;
}

static bool is_compared(const struct diff_file *file, const struct profile_sample *sample)
{
	return sample->event == file->event &&
	       (!file->label_sets || file->label_sets[sample->labels]);
}

static const char *diff_files_text_of(const struct diff_file *file, string_id id)
{
	return profile_string(file->input.profile, id);
}

static const struct profile_event *event_at(const struct diff_file *file, event_id event)
{
	return profile_get_event(file->input.profile, event);
}

static const struct profile_event *diff_files_event_of(const struct diff_file *file)
{
	return event_at(file, file->event);
}

/* Maps the different names of CPU clocks to one. */
static const char *common_name(const char *name)
{
	return strcmp(name, "cpu-clock") && strcmp(name, "task-clock") ? name : "cpu";
}

static bool diff_files_is_called(const struct diff_file *file, event_id id, const char *name)
{
	return !strcmp(common_name(diff_files_text_of(file, event_at(file, id)->name)),
		       common_name(name));
}

/* Returns true for folded stacks, which may be samples of any event. A
 * truncated recording may have no event at all. */
static bool is_of_anything(const struct diff_file *file, event_id id)
{
	const struct profile_event *event;

	if (id >= profile_event_count(file->input.profile))
		return false;
	event = event_at(file, id);
	return event->one_value && !strcmp(diff_files_text_of(file, event->name), "samples");
}

/* Like is_of_anything(), for the event that is compared. */
static bool counts_anything(const struct diff_file *file)
{
	return is_of_anything(file, file->event);
}

static bool find_event(struct diff_file *file, const char *name)
{
	for (event_id i = 0; i < profile_event_count(file->input.profile); i++) {
		if (!is_of_anything(file, i) && !diff_files_is_called(file, i, name))
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

/* Returns "cpu, page-faults". The caller frees it. */
static char *diff_files_events_of(const struct diff_file *file)
{
	char *names = xstrdup("");

	for (event_id i = 0; i < profile_event_count(file->input.profile); i++) {
		CLEANUP(free_ptr) char *before = names;

		names = xasprintf("%s%s%s", before, *before ? ", " : "",
				  diff_files_text_of(file, event_at(file, i)->name));
	}
	return *names ? names : strcpy(xreallocarray(names, 1, sizeof("no event")), "no event");
}

static struct error *no_common_event(const struct diff_files *files, const char *name)
{
	const struct diff_file *old = &files->items[0], *new = &files->items[files->count - 1];
	CLEANUP(free_ptr) char *old_events = diff_files_events_of(old);
	CLEANUP(free_ptr) char *new_events = diff_files_events_of(new);

	return error_hint(name ? error_new("not all files have the event %s", name)
			       : error_new("the files have no event in common"),
			  "%s has %s; %s has %s", old->path, old_events, new->path, new_events);
}

/* A file with numbers of samples only has them as weights, too. */
static double samples_scale(const struct diff_file *file)
{
	return diff_files_event_of(file)->one_value ? file->scale : 1;
}

static void measure(struct diff_file *file)
{
	const struct profile *profile = file->input.profile;
	const struct profile_samples samples = profile_samples(profile);

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (!is_compared(file, sample))
			continue;
		file->whole.samples += (double)sample->samples * samples_scale(file);
		file->whole.weight += (double)sample->weight * file->scale;
	}
}

static struct diff_file *one_that_says(const struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!is_of_anything(&files->items[i], 0))
			return &files->items[i];
	return &files->items[0];
}

/* Returns one unit of the file's weights in nanoseconds, bytes or counts. */
static uint64_t diff_files_unit_of(const struct diff_file *file)
{
	const char *unit = profile_event_unit(file->input.profile, file->event);

	return value_scaled(diff_files_event_of(file)->kind, unit, 1);
}

static const struct diff_file *one_of_smallest_unit(const struct diff_files *files)
{
	const struct diff_file *smallest = one_that_says(files);

	for (size_t i = 0; i < files->count; i++)
		if (!counts_anything(&files->items[i]) &&
		    diff_files_unit_of(&files->items[i]) < diff_files_unit_of(smallest))
			smallest = &files->items[i];
	return smallest;
}

static struct error *check_kinds(const struct diff_files *files)
{
	const struct diff_file *first = one_that_says(files);
	const char *kind = value_kind_name(diff_files_event_of(first)->kind);

	for (size_t i = 0; i < files->count; i++) {
		const struct diff_file *file = &files->items[i];

		if (!counts_anything(file) &&
		    diff_files_event_of(file)->kind != diff_files_event_of(first)->kind)
			return error_hint(
				error_new("the event %s measures different kinds of values",
					  diff_files_text_of(first,
							     diff_files_event_of(first)->name)),
				"%s in %s, %s in %s", kind, first->path,
				value_kind_name(diff_files_event_of(file)->kind), file->path);
	}
	return NULL;
}

/* The units are multiples of each other. */
static void find_unit_scales(struct diff_files *files)
{
	uint64_t smallest = diff_files_unit_of(one_of_smallest_unit(files));

	for (size_t i = 0; i < files->count; i++) {
		uint64_t multiple = diff_files_unit_of(&files->items[i]) / smallest;

		files->items[i].scale = counts_anything(&files->items[i]) ? 1 : (double)multiple;
	}
}

struct error *diff_files_choose_event(struct diff_files *files, const char *name)
{
	const struct diff_file *file = one_that_says(files);
	bool found = name && all_have(files, name);
	struct error *err;

	for (event_id i = 0; !name && !found && i < profile_event_count(file->input.profile); i++)
		found = all_have(files, diff_files_text_of(file, event_at(file, i)->name));
	if (!found)
		return no_common_event(files, name);
	err = check_kinds(files);
	if (err)
		return err;
	find_unit_scales(files);
	for (size_t i = 0; i < files->count; i++) {
		measure(&files->items[i]);
		files->by_samples = files->by_samples || counts_anything(&files->items[i]);
	}
	return NULL;
}

struct diff_event diff_files_event(const struct diff_files *files)
{
	const struct diff_file *file = one_that_says(files);
	const struct diff_file *smallest = one_of_smallest_unit(files);

	return (struct diff_event){
		.name = diff_files_text_of(file, diff_files_event_of(file)->name),
		.kind = diff_files_event_of(file)->kind,
		.unit = profile_event_unit(smallest->input.profile, smallest->event),
	};
}

bool diff_files_are_runs(const struct diff_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		if (!profile_get_info(files->items[i].input.profile)->is_run)
			return false;
	return true;
}

const char *diff_files_harness(const struct diff_files *files)
{
	const char *harness = NULL;

	for (size_t i = 0; !harness && i < files->count; i++)
		harness = harness_of(files->items[i].input.profile, files->items[i].event);
	return harness;
}

/* Returns 0 if samples are counted. Otherwise returns an estimate from the
 * period, or one sample per stack and thread. */
static double samples_per_weight(const struct diff_file *file)
{
	const struct profile *profile = file->input.profile;
	const struct profile_samples samples = profile_samples(profile);
	const struct profile_event *event = diff_files_event_of(file);
	bool is_count = !strcmp(diff_files_text_of(file, event->unit), "count");
	uint64_t compared = 0;

	if (file->whole.samples > 0 && (!event->one_value || is_count))
		return 0;
	if (event->period)
		return 1 / ((double)event->period * file->scale);
	for (uint64_t i = 0; i < samples.count; i++)
		compared += is_compared(file, &samples.items[i]);
	return file->whole.weight > 0 ? (double)compared / file->whole.weight : 0;
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

static double diff_files_threads_of(const struct diff_file *file)
{
	const struct profile *profile = file->input.profile;
	const struct profile_samples samples = profile_samples(profile);
	uint32_t count = profile_thread_count(profile);
	CLEANUP(free_ptr) bool *is_there = xcalloc(count, sizeof(*is_there));
	double threads = 0;

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];

		if (is_compared(file, sample))
			is_there[profile_get_label_set(profile, sample->labels)->thread] = true;
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
		list[i] = diff_files_threads_of(&files->items[i]);
	return list;
}

double *diff_files_weight_errors(const struct diff_files *files)
{
	double *list = xcalloc(files->count, sizeof(*list));

	for (size_t i = 0; i < files->count; i++)
		list[i] = files->items[i].weight_error;
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
			.sample_scale = samples_scale(&files->items[i]),
			.weight_scale = files->items[i].scale,
			.label_sets = files->items[i].label_sets,
			.values = files->items[i].values.texts ? &files->items[i].values : NULL,
		};
		snprintf(columns[i].name, sizeof(columns[i].name), "%zu", i);
		columns[i].kind = diff_files_event(files).kind;
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

/* Finds a scale per side. The smaller scale is 1, so that no counts are rounded
 * to 0. */
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

/* A sample of one side may have more weight than one of the other. */
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
	struct diff_event event = diff_files_event(files);
	struct merge_column columns[] = {
		{.name = "after", .kind = event.kind, .unit = event.unit},
		{.name = "before", .kind = event.kind, .unit = event.unit},
	};
	double scales[SIDES];

	find_scales(files, of_shares, scales);
	for (size_t i = 0; i < files->count; i++) {
		int side = i < files->old_count ? BEFORE : AFTER;

		inputs[i] = (struct merge_input){
			.profile = files->items[i].input.profile,
			.event = files->items[i].event,
			.column = side == BEFORE,
			.sample_scale = scales[side] * sample_scale(files, side) *
					samples_scale(&files->items[i]),
			.weight_scale = scales[side] * files->items[i].scale,
			.label_sets = files->items[i].label_sets,
		};
	}
	return merge_profiles(inputs, files->count, columns, ARRAY_SIZE(columns));
}
