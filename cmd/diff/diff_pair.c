#include "cmd/diff/diff_pair.h"

#include "base/alloc.h"
#include "cmd/diff/diff_iterations.h"
#include "profile/memory_events.h"
#include "report/elapsed_change.h"

#include <string.h>

/* Memory in use is compared in bytes, not as a share of other functions'
 * memory. */
static bool is_of_memory(const struct diff_pair *pair)
{
	const struct diff_file *file = &pair->files.items[0];
	enum memory_event which;

	return memory_event_of(file->input.profile, file->event, &which);
}

static enum normalize usual_normalization(struct diff_pair *pair)
{
	if (is_of_memory(pair) || (diff_files_are_runs(&pair->files) && !pair->harness))
		return NORMALIZE_TIME;
	return diff_iterations_scale(&pair->files) ? NORMALIZE_ITERATION : NORMALIZE_SHARE;
}

static struct error *scale_to_iterations(struct diff_pair *pair)
{
	if (pair->options->normalize != NORMALIZE_ITERATION || diff_iterations_scale(&pair->files))
		return NULL;
	return error_hint(error_new("not all profiles have a time per iteration"),
			  "it comes from criterion's BENCHMARK/new/estimates.json, which cargo "
			  "bench writes next to BENCHMARK/profile/profile.pb.gz");
}

static void decide(struct diff_pair *pair)
{
	enum normalize normalize = pair->options->normalize;

	if (normalize == NORMALIZE_AUTO || normalize == NORMALIZE_SHARE)
		pair->harness = diff_files_harness(&pair->files);
	if (normalize == NORMALIZE_AUTO)
		normalize = usual_normalization(pair);
	if (normalize != NORMALIZE_SHARE)
		pair->harness = NULL;
	pair->by_samples = normalize == NORMALIZE_SAMPLES || pair->files.by_samples;
	pair->comparison = (struct comparison_options){
		.kind = normalize == NORMALIZE_SHARE ? COMPARE_SHARES : COMPARE_WEIGHTS,
		.confidence = pair->options->confidence,
		.noise = pair->options->noise,
	};
}

struct error *diff_pair_read(struct diff_pair *pair, const struct diff_command_options *options,
			     const struct option_list *old, const struct option_list *new)
{
	struct input_options input = options->input;
	struct error *err;

	*pair = (struct diff_pair){.options = options, .old = old, .new = new};
	input.shows_progress = !options->quiet;
	err = diff_files_read(&pair->files, old, new, &input);
	if (!err)
		err = diff_files_select(&pair->files,
					&(struct diff_conditions){&options->labels,
								  &options->old_labels,
								  &options->new_labels},
					options->by_label);
	if (!err)
		err = diff_files_choose_event(&pair->files, options->event);
	if (!err)
		err = scale_to_iterations(pair);
	if (!err)
		decide(pair);
	return err;
}

/* Sets what is compared: the weights of the event, or its samples. */
static void set_quantity(struct diff_report *report, const struct diff_pair *pair)
{
	struct diff_event event = diff_files_event(&pair->files);

	report->event = event.name;
	report->kind = pair->by_samples ? VALUE_COUNT : event.kind;
	report->unit = pair->by_samples ? "" : event.unit;
	report->quantity = pair->by_samples ? "samples" : value_words(event.kind, event.name);
	if (!report->is_per_iteration)
		return;
	report->kind = VALUE_WALL_TIME;
	report->unit = "nanoseconds";
	report->quantity = "time per iteration";
}

/* Elapsed time is compared of whole runs. The caller frees the text. */
static char *change_of_elapsed(const struct diff_pair *pair, enum name_style names)
{
	const struct diff_files *files = &pair->files;
	CLEANUP(free_ptr)
	const struct profile **profiles = xcalloc(files->count, sizeof(*profiles));

	if (pair->comparison.kind != COMPARE_WEIGHTS || pair->options->by_label ||
	    files->iteration_ns > 0)
		return NULL;
	for (size_t i = 0; i < files->count; i++) {
		if (files->items[i].label_sets)
			return NULL;
		profiles[i] = files->items[i].input.profile;
	}
	return elapsed_change_text(&(struct elapsed_runs){profiles, files->count, files->old_count,
							  pair->comparison, names});
}

void diff_pair_compare(struct diff_pair *pair)
{
	enum name_style usual = pair->options->json ? NAMES_FULL : NAMES_SHORT;
	struct diff_report *report = &pair->report;
	CLEANUP(free_ptr) double *per_weight = NULL;
	CLEANUP(free_ptr) double *threads = diff_files_threads(&pair->files);
	CLEANUP(free_ptr) double *weight_errors = diff_files_weight_errors(&pair->files);

	*report = (struct diff_report){.diff = &pair->diff,
				       .options = &pair->comparison,
				       .old = pair->old,
				       .new = pair->new,
				       .label = pair->options->by_label,
				       .harness = pair->harness,
				       .is_per_iteration = pair->files.iteration_ns > 0,
				       .rows = pair->options->rows};
	per_weight = diff_files_samples_per_weight(&pair->files, &report->is_guess);
	pair->merged = diff_files_merge(&pair->files);
	diff_init(&pair->diff, pair->merged,
		  &(struct diff_options){.comparison = pair->comparison,
					 .old_count = (uint32_t)pair->old->count,
					 .by_samples = pair->by_samples,
					 .names = names_option_style(&pair->options->names, usual),
					 .samples_per_weight = per_weight,
					 .threads = threads,
					 .weight_errors = weight_errors});
	if (report->is_per_iteration) {
		pair->diff.old_weight *= pair->files.iteration_ns;
		pair->diff.new_weight *= pair->files.iteration_ns;
	}
	set_quantity(report, pair);
	pair->elapsed = change_of_elapsed(pair, names_option_style(&pair->options->names, usual));
	report->elapsed = pair->elapsed;
}

void diff_pair_deinit(struct diff_pair *pair)
{
	if (pair->merged)
		diff_deinit(&pair->diff);
	profile_free(pair->merged);
	free(pair->elapsed);
	diff_files_deinit(&pair->files);
}

bool diff_pair_is_of_shares(const struct diff_pair *pair)
{
	return pair->comparison.kind == COMPARE_SHARES;
}

struct error *diff_pair_cannot_tell(const struct diff_pair *pair)
{
	struct error *err = error_new("shares do not tell whether the whole is slower");

	if (pair->harness)
		return error_hint(err, "%s runs for a fixed time, however slow a function is: %s",
				  pair->harness,
				  strcmp(pair->harness, "criterion") != 0
					  ? "judge functions by 'FUNCTION>2%', or record a fixed "
					    "amount of work"
					  : "run cargo bench without --profile-time, too, and "
					    "compare target/criterion of both sides");
	return error_hint(err, "--normalize time compares the weight per recording");
}

struct error *diff_no_function(const struct fail_condition *condition)
{
	return error_hint(error_new("%s cannot be judged: no function is called %s",
				    condition->text, condition->what),
			  "prof report FILE lists the functions");
}

struct error *diff_cannot_judge(const struct fail_condition *condition, const struct change *change)
{
	struct error *err;

	if (!change)
		return error_hint(
			error_new("%s cannot be judged: too few samples", condition->text),
			"record for longer, or at a higher rate (-F)");
	err = error_new("%s cannot be judged%s: %+.1f %% ± %.1f %%%s", condition->text,
			change->is_guess ? " with one recording on a side" : "",
			diff_percent(diff_change_of(change)), diff_percent(change->margin),
			change->is_guess ? " is a guess" : " is too wide for this limit");
	return error_hint(err, change->is_guess
				       ? "compare at least two recordings per side, better five: "
					 "prof diff OLD OLD2 -- NEW NEW2"
				       : "compare more or longer recordings per side, made in "
					 "turn, or use a quieter machine");
}

int diff_status(const size_t *verdicts)
{
	if (verdicts[LIMIT_EXCEEDED])
		return STATUS_CONDITION;
	return verdicts[LIMIT_UNKNOWN] ? STATUS_TROUBLE : 0;
}

static bool is_meant(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return !strncmp(name, wanted, len) && (!name[len] || name[len] == '(');
}

const struct change *diff_pair_function(const struct diff_pair *pair, const char *name)
{
	const struct diff *diff = &pair->diff;
	const struct label *labels = diff->labels.items;

	for (uint32_t i = 0; i < diff->count; i++)
		if (is_meant(labels[diff->rows[i].label].name, name) ||
		    !strcmp(labels[diff->rows[i].label].shown, name))
			return &diff->rows[i].total;
	return NULL;
}
