#include "cmd/diff/diff_directories.h"

#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/diff/benchmark_report.h"
#include "cmd/diff/diff_pair.h"
#include "cmd/ui/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A benchmark with fewer samples on a side is not judged, because such short
 * runs vary too much. */
enum { FEWEST_SAMPLES = 100 };

struct directories {
	struct benchmarks benchmarks;
	struct benchmark_report report;
};

static size_t count_common(const struct benchmarks *benchmarks)
{
	size_t count = 0;

	for (size_t i = 0; i < benchmarks->count; i++)
		count += benchmarks->items[i].old.count && benchmarks->items[i].new.count;
	return count;
}

static double diff_directories_samples_of(const struct diff_pair *pair, size_t first, size_t end)
{
	double sum = 0;

	for (size_t i = first; i < end; i++)
		sum += pair->diff.wholes[i].samples;
	return sum;
}

/* The first row has changed most. */
static void diff_directories_take_function(struct benchmark_result *result,
					   const struct diff_pair *pair)
{
	const struct diff_row *row = pair->diff.rows;

	if (!pair->diff.count || !(row->self.is_notable || row->total.is_notable))
		return;
	result->function = xstrdup(pair->diff.labels.items[row->label].shown);
	result->self = row->self.is_notable ? row->self : row->total;
}

/* Judges the conditions on functions. */
static void take_conditions(struct benchmark_result *result, const struct diff_pair *pair)
{
	const struct fail_conditions *conditions = &pair->options->conditions;

	result->conditions = xcalloc(conditions->count, sizeof(*result->conditions));
	result->limits = xcalloc(conditions->count, sizeof(*result->limits));
	for (size_t i = 0; i < conditions->count; i++) {
		const struct change *change = diff_pair_function(pair, conditions->items[i].what);

		if (change && !fail_condition_is_slower(&conditions->items[i]))
			result->conditions[i] = *change;
	}
}

static bool asks_whether_slower(const struct fail_conditions *conditions)
{
	for (size_t i = 0; i < conditions->count; i++)
		if (fail_condition_is_slower(&conditions->items[i]))
			return true;
	return false;
}

/* Returns true, after printing the error, if a condition cannot be judged. */
static bool cannot_be_judged(const struct benchmark *benchmark, const struct diff_pair *pair)
{
	if (!diff_pair_is_of_shares(pair) || !asks_whether_slower(&pair->options->conditions))
		return false;
	message_error(error_wrap(diff_pair_cannot_tell(pair), "%s", benchmark->name));
	return true;
}

static void take_result(struct benchmark_result *result, const struct diff_pair *pair)
{
	result->event = xstrdup(pair->report.event);
	result->quantity = xstrdup(pair->report.quantity);
	result->unit = xstrdup(pair->report.unit);
	result->kind = pair->report.kind;
	result->harness = pair->harness;
	result->compared = diff_compared(&pair->report);
	result->of_shares = diff_pair_is_of_shares(pair);
	result->old_samples = diff_directories_samples_of(pair, 0, pair->old->count);
	result->new_samples = diff_directories_samples_of(pair, pair->old->count,
							  pair->diff.columns);
	result->old_weight = pair->diff.old_weight;
	result->new_weight = pair->diff.new_weight;
	result->whole_estimate = pair->diff.whole_estimate;
	diff_directories_take_function(result, pair);
	take_conditions(result, pair);
}

/* A benchmark that cannot be compared does not end the comparison of the others. */
static void diff_directories_compare(struct benchmark_result *result,
				     const struct benchmark *benchmark,
				     const struct diff_command_options *options)
{
	CLEANUP(diff_pair_deinit) struct diff_pair pair;
	struct error *err = diff_pair_read(&pair, options, &benchmark->old, &benchmark->new);

	*result = (struct benchmark_result){.benchmark = benchmark};
	if (err) {
		result->failure = xstrdup(error_text(err));
		message_error(error_wrap(err, "%s", benchmark->name));
		return;
	}
	diff_pair_compare(&pair);
	take_result(result, &pair);
	result->cannot_be_judged = cannot_be_judged(benchmark, &pair);
}

/* Adjusts the margin of a change for this number of comparisons. */
static void correct(struct change *change, size_t comparisons)
{
	change->p = fmin(change->p * (double)comparisons, 1);
}

/* Estimates the noise of a benchmark from all benchmarks. */
static struct variance_prior diff_directories_learn(const struct benchmark_report *report)
{
	CLEANUP(free_ptr)
	struct measured_variance *variances = xcalloc(2 * report->count, sizeof(*variances));

	for (size_t i = 0; i < 2 * report->count; i++)
		variances[i] = report->results[i / 2].whole_estimate.measured[i % 2];
	return variance_prior_of(variances, 2 * report->count);
}

static enum benchmark_verdict diff_directories_verdict_of(const struct benchmark_result *result)
{
	if (result->failure)
		return BENCHMARK_FAILED;
	if (result->old_samples < FEWEST_SAMPLES || result->new_samples < FEWEST_SAMPLES)
		return BENCHMARK_FEW_SAMPLES;
	if (result->whole.is_guess)
		return BENCHMARK_UNJUDGED;
	if (result->whole.is_significant)
		return result->whole.after > 1 ? BENCHMARK_SLOWER : BENCHMARK_FASTER;
	return result->function ? BENCHMARK_CHANGED : BENCHMARK_SAME;
}

static enum limit_verdict judge_condition(const struct benchmark_result *result,
					  const struct change *change, double limit)
{
	if (!(change->samples > 0))
		return LIMIT_KEPT;
	return result->verdict == BENCHMARK_FEW_SAMPLES ? LIMIT_UNKNOWN
							: change_judge(change, limit);
}

/* The error that shares cannot show whether the whole is slower was printed
 * before. */
static void judge_conditions(struct benchmark_result *result,
			     const struct fail_conditions *conditions)
{
	for (size_t i = 0; result->conditions && i < conditions->count; i++) {
		if (fail_condition_is_slower(&conditions->items[i]) && !result->of_shares)
			result->conditions[i] = result->whole;
		result->limits[i] = judge_condition(result, &result->conditions[i],
						    conditions->items[i].limit);
	}
}

/* Judges each benchmark at the given confidence. */
static void judge_all(struct benchmark_report *report, double confidence)
{
	const struct variance_prior prior = diff_directories_learn(report);

	for (size_t i = 0; i < report->count; i++) {
		struct benchmark_result *result = &report->results[i];
		struct whole_estimate *estimate = &result->whole_estimate;

		if (!result->failure && estimate->ratio > 0) {
			for (unsigned j = 0; j < 2; j++)
				estimate->measured[j] =
					variance_prior_moderate(&prior, estimate->measured[j]);
			result->whole = whole_estimate_change(estimate, confidence);
		}
		result->verdict = diff_directories_verdict_of(result);
		if (result->verdict == BENCHMARK_FEW_SAMPLES)
			result->whole.is_significant = false;
		correct(&result->whole, report->count);
		correct(&result->self, report->count);
		judge_conditions(result, &report->options->conditions);
	}
}

static void compare_all(struct directories *directories, const struct diff_command_options *options,
			size_t common)
{
	struct benchmark_report *report = &directories->report;
	struct diff_command_options each = *options;

	each.confidence = 1 - (1 - options->confidence) / (double)common;
	report->results = xcalloc(common, sizeof(*report->results));
	for (size_t i = 0; i < directories->benchmarks.count; i++) {
		const struct benchmark *benchmark = &directories->benchmarks.items[i];

		if (!benchmark->old.count || !benchmark->new.count)
			continue;
		if (!options->quiet)
			message_progress("%zu of %zu: %s", report->count + 1, common,
					 benchmark->name);
		diff_directories_compare(&report->results[report->count++], benchmark, &each);
	}
	message_progress_end();
	judge_all(report, each.confidence);
}

/* Orders significant changes first, the largest increase before all others. */
static int diff_directories_by_change(const void *a, const void *b)
{
	const struct benchmark_result *left = a, *right = b;
	double left_change = left->whole.is_significant ? left->whole.after : 1;
	double right_change = right->whole.is_significant ? right->whole.after : 1;
	bool is_changed = left->verdict == BENCHMARK_CHANGED;

	if (left_change != right_change)
		return left_change < right_change ? 1 : -1;
	if (is_changed != (right->verdict == BENCHMARK_CHANGED))
		return is_changed ? -1 : 1;
	return (left->benchmark > right->benchmark) - (left->benchmark < right->benchmark);
}

static int diff_directories_show(const struct directories *directories,
				 const struct diff_command_options *options)
{
	struct pager pager;
	struct error *err;

	if (options->quiet)
		return STATUS_OK;
	if (options->json || options->markdown) {
		(options->json ? benchmark_report_print_json
			       : benchmark_report_print_markdown)(&directories->report, stdout);
		return STATUS_OK;
	}
	pager_open(&pager, &options->pager);
	benchmark_report_print(&directories->report, &pager);
	err = pager_show(&pager);
	pager_close(&pager);
	return err ? message_failure_as(err, STATUS_TROUBLE) : STATUS_OK;
}

/* Returns true if at least one benchmark has the function of the condition. */
static bool applies(const struct benchmark_report *report, size_t condition)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->results[i].conditions &&
		    report->results[i].conditions[condition].samples > 0)
			return true;
	return false;
}

static void tell_limit(const struct benchmark_result *result,
		       const struct fail_condition *condition, const struct change *change,
		       enum limit_verdict verdict)
{
	bool has_few = result->verdict == BENCHMARK_FEW_SAMPLES;

	if (verdict == LIMIT_UNKNOWN)
		message_error(error_wrap(diff_cannot_judge(condition, has_few ? NULL : change),
					 "%s", result->benchmark->name));
	if (verdict == LIMIT_EXCEEDED)
		message("%s: %s: %+.1f %%, significant and more than %g %%",
			result->benchmark->name, condition->what, diff_change_of(change) * 100,
			condition->limit * 100);
}

static int diff_directories_judge(const struct benchmark_report *report)
{
	const struct fail_conditions *conditions = &report->options->conditions;
	size_t verdicts[LIMIT_UNKNOWN + 1] = {0};

	for (size_t i = 0; i < conditions->count; i++) {
		const struct fail_condition *condition = &conditions->items[i];

		if (!applies(report, i)) {
			message_error(diff_no_function(condition));
			verdicts[LIMIT_UNKNOWN]++;
		}
		for (size_t j = 0; j < report->count; j++) {
			const struct benchmark_result *result = &report->results[j];

			if (!result->limits)
				continue;
			tell_limit(result, condition, &result->conditions[i], result->limits[i]);
			verdicts[result->limits[i]]++;
		}
	}
	return diff_status(verdicts);
}

/* A CI check that cannot judge must not pass. */
static int find_trouble(const struct benchmark_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->results[i].failure || report->results[i].cannot_be_judged)
			return STATUS_TROUBLE;
	return STATUS_OK;
}

static int diff_directories_run(struct directories *directories,
				const struct diff_command_options *options)
{
	struct benchmark_report *report = &directories->report;
	size_t common = count_common(&directories->benchmarks);
	int trouble, met;

	if (!common)
		return message_failure_as(
			error_hint(error_new("no benchmark is on both sides"),
				   "profiles pair by their names: base/parse.pb.gz "
				   "with head/parse.pb.gz"),
			STATUS_TROUBLE);
	compare_all(directories, options, common);
	qsort(report->results, report->count, sizeof(*report->results), diff_directories_by_change);
	if (diff_directories_show(directories, options) != STATUS_OK)
		return STATUS_TROUBLE;
	met = diff_directories_judge(report);
	trouble = find_trouble(report);
	return trouble ? trouble : met;
}

static void result_deinit(struct benchmark_result *result)
{
	free(result->failure);
	free(result->event);
	free(result->quantity);
	free(result->unit);
	free(result->function);
	free(result->conditions);
	free(result->limits);
}

static void directories_deinit(struct directories *directories)
{
	for (size_t i = 0; i < directories->report.count; i++)
		result_deinit(&directories->report.results[i]);
	free(directories->report.results);
	benchmarks_deinit(&directories->benchmarks);
}

int diff_directories(const struct diff_command_options *options, const struct option_list *old,
		     const struct option_list *new)
{
	CLEANUP(directories_deinit) struct directories directories = {0};
	struct error *err;

	if (options->outputs.count)
		return message_failure_as(
			error_hint(error_new("-o cannot show many benchmarks"),
				   "compare the profiles of one: prof diff -o diff.html OLD NEW"),
			STATUS_TROUBLE);
	directories.report = (struct benchmark_report){
		.options = options, .old = old, .new = new, .benchmarks = &directories.benchmarks};
	err = benchmarks_find(&directories.benchmarks, old, new);
	return err ? message_failure_as(err, STATUS_TROUBLE)
		   : diff_directories_run(&directories, options);
}
