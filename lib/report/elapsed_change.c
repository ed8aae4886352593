#include "report/elapsed_change.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "report/label_values.h"
#include "report/merge.h"
#include "report/parallelism.h"
#include "report/waiting_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many threads ran. */
enum elapsed_class { NONE_RAN, ONE_RAN, MORE_RAN, ELAPSED_CLASSES };

static const struct {
	const char *condition;
	const char *of_function, *of_all;
} classes[ELAPSED_CLASSES] = {
	[NONE_RAN] = {PARALLELISM_LABEL "=0", "while no thread ran", "while no thread ran"},
	[ONE_RAN] = {PARALLELISM_LABEL "=1", "which ran alone", "while one thread ran"},
	[MORE_RAN] = {PARALLELISM_LABEL "=2-4096", "which ran with other threads",
		      "while several threads ran"},
};

/* A function with a smaller part of the change does not explain it. */
#define LEAST_PART 0.25

/* Each run has one column per class. */
struct merged_runs {
	const struct elapsed_runs *runs;
	struct merge_input *inputs;
	struct merge_column *columns;
	bool **label_sets; /* by column */
	size_t count;
	struct profile *profile;
};

static void merged_runs_deinit(struct merged_runs *merged)
{
	for (size_t i = 0; i < merged->count; i++)
		free(merged->label_sets[i]);
	free(merged->label_sets);
	free(merged->inputs);
	free(merged->columns);
	profile_free(merged->profile);
}

/* Returns false if the profile has no elapsed time. */
static bool add_class(struct merged_runs *merged, const struct profile *profile,
		      enum elapsed_class class)
{
	uint32_t count = profile_label_set_count(profile);
	bool *sets = xcalloc((size_t)count + 1, sizeof(*sets));
	size_t column = merged->count++;
	struct error *err;

	memset(sets, true, count);
	merged->label_sets[column] = sets;
	merged->inputs[column] = (struct merge_input){.profile = profile,
						      .column = (uint32_t)column,
						      .sample_scale = 1,
						      .weight_scale = 1,
						      .label_sets = sets};
	snprintf(merged->columns[column].name, sizeof(merged->columns[column].name), "%zu", column);
	merged->columns[column].kind = VALUE_WALL_TIME;
	if (!parallelism_event(profile, &merged->inputs[column].event))
		return false;
	err = label_filter(profile, classes[class].condition, sets);
	error_free(err);
	return !err;
}

/* Returns false if a profile has no elapsed time. */
static bool merge_runs(struct merged_runs *merged)
{
	const struct elapsed_runs *runs = merged->runs;
	size_t columns = runs->count * ELAPSED_CLASSES;

	merged->inputs = xcalloc(columns, sizeof(*merged->inputs));
	merged->columns = xcalloc(columns, sizeof(*merged->columns));
	merged->label_sets = xcalloc(columns, sizeof(*merged->label_sets));
	for (size_t i = 0; i < columns; i++)
		if (!add_class(merged, runs->profiles[i / ELAPSED_CLASSES],
			       (enum elapsed_class)(i % ELAPSED_CLASSES)))
			return false;
	merged->profile = merge_profiles(merged->inputs, columns, merged->columns,
					 (uint32_t)columns);
	return true;
}

/* The change of the length of a run. *ret_ns: in nanoseconds. */
static struct change change_of_runs(const struct merged_runs *merged, double *ret_ns)
{
	const struct elapsed_runs *runs = merged->runs;
	const struct profile_samples samples = profile_samples(merged->profile);
	CLEANUP(free_ptr) struct whole *wholes = xcalloc(runs->count, sizeof(*wholes));
	CLEANUP(comparison_cleanup) struct comparison *comparison = NULL;
	struct whole_estimate estimate;
	double sums[2] = {0};

	for (uint64_t i = 0; i < samples.count; i++) {
		size_t run = samples.items[i].event / ELAPSED_CLASSES;

		wholes[run].sum.weight += (double)samples.items[i].weight;
		sums[run >= runs->old_count] += (double)samples.items[i].weight;
	}
	/* Elapsed time is not sampled: it is exact to about a millisecond. */
	for (size_t i = 0; i < runs->count; i++) {
		wholes[i].sum.samples = wholes[i].sum.weight / 1e6;
		wholes[i].variance = 1;
	}
	if (!(sums[0] > 0 && sums[1] > 0))
		return (struct change){0};
	*ret_ns = sums[1] / (double)(runs->count - runs->old_count) -
		  sums[0] / (double)runs->old_count;
	comparison = comparison_new(&runs->comparison, wholes, runs->old_count,
				    runs->count - runs->old_count);
	estimate = comparison_estimate_whole(comparison);
	return whole_estimate_change(&estimate, runs->comparison.confidence);
}

/* Returns the changes by function, then by class, in nanoseconds per run. The
 * caller frees them. */
static double *changes_of_functions(const struct merged_runs *merged,
				    const struct display_labels *labels)
{
	const struct elapsed_runs *runs = merged->runs;
	const struct profile_samples samples = profile_samples(merged->profile);
	CLEANUP(free_ptr) uint32_t *places = waiting_places(labels);
	double *changes = xcalloc((size_t)labels->count * ELAPSED_CLASSES + 1, sizeof(*changes));

	for (uint64_t i = 0; i < samples.count; i++) {
		const struct profile_sample *sample = &samples.items[i];
		bool is_old = sample->event / ELAPSED_CLASSES < runs->old_count;
		double weight = (double)sample->weight;
		size_t label;

		if (sample->stack == STACK_EMPTY)
			continue;
		label = labels->lines[places[sample->stack]].label;
		changes[label * ELAPSED_CLASSES + sample->event % ELAPSED_CLASSES] +=
			is_old ? -weight / (double)runs->old_count
			       : weight / (double)(runs->count - runs->old_count);
	}
	return changes;
}

/* Returns the index of the largest change in the direction of the whole. */
static size_t largest_of(const double *changes, size_t count, double all)
{
	size_t largest = 0;

	for (size_t i = 1; i < count; i++)
		if (all < 0 ? changes[i] < changes[largest] : changes[i] > changes[largest])
			largest = i;
	return largest;
}

/* Returns "in load_index, which ran alone", or "while one thread ran" if no
 * function explains the change. *ret_ns: the change of that. The caller frees
 * the text. */
static char *cause_words(const struct display_labels *labels, const double *changes, double all,
			 double *ret_ns)
{
	size_t count = (size_t)labels->count * ELAPSED_CLASSES;
	size_t largest = largest_of(changes, count, all);
	double sums[ELAPSED_CLASSES] = {0};
	CLEANUP(free_ptr) char *name = NULL;

	*ret_ns = changes[largest];
	if (fabs(*ret_ns) >= LEAST_PART * fabs(all)) {
		name = printable(labels->items[largest / ELAPSED_CLASSES].shown);
		return xasprintf("in %s, %s", name, classes[largest % ELAPSED_CLASSES].of_function);
	}
	for (size_t i = 0; i < count; i++)
		sums[i % ELAPSED_CLASSES] += changes[i];
	largest = largest_of(sums, ELAPSED_CLASSES, all);
	*ret_ns = sums[largest];
	return xstrdup(classes[largest].of_all);
}

char *elapsed_change_text(const struct elapsed_runs *runs)
{
	CLEANUP(merged_runs_deinit) struct merged_runs merged = {.runs = runs};
	CLEANUP(display_labels_deinit) struct display_labels labels = {0};
	CLEANUP(free_ptr) double *changes = NULL;
	CLEANUP(free_ptr) char *cause = NULL;
	double change_ns = 0, cause_ns;

	if (!merge_runs(&merged) || !change_of_runs(&merged, &change_ns).is_notable)
		return NULL;
	display_labels_init_named(&labels, merged.profile, runs->names);
	changes = changes_of_functions(&merged, &labels);
	cause = cause_words(&labels, changes, change_ns, &cause_ns);
	return xasprintf("%s %s: %s%s %s", humanize_time((uint64_t)fabs(change_ns)).text,
			 change_ns < 0 ? "shorter" : "longer", change_ns < 0 ? "-" : "+",
			 humanize_time((uint64_t)fabs(cause_ns)).text, cause);
}
