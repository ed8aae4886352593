#include "base/json.h"
#include "cmd/diff/benchmark_report.h"
#include "cmd/diff/diff_report.h"

static void benchmark_json_put_names(struct json *json, const char *key,
				     const struct option_list *names)
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < names->count; i++)
		json_text(json, names->items[i]);
	json_end_array(json);
}

static void benchmark_json_put_side(struct json *json, const char *key,
				    const struct benchmark_result *result, bool is_old)
{
	const struct benchmark *benchmark = result->benchmark;

	json_key(json, key);
	json_begin_object(json);
	benchmark_json_put_names(json, "files", is_old ? &benchmark->old : &benchmark->new);
	if (result->verdict != BENCHMARK_FAILED) {
		json_put_real(json, "samples", is_old ? result->old_samples : result->new_samples,
			      17);
		json_put_real(json, "weight", is_old ? result->old_weight : result->new_weight, 17);
	}
	json_end_object(json);
}

static void benchmark_json_put_function(struct json *json, const struct benchmark_result *result)
{
	json_key(json, "function");
	if (!result->function) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_text(json, "name", result->function);
	diff_put_change(json, &result->self);
	json_end_object(json);
}

/* Conditions are written as given: "slower>5%". */
static void put_met(struct json *json, const struct benchmark_report *report,
		    const struct benchmark_result *result)
{
	const struct fail_conditions *conditions = &report->options->conditions;

	json_key(json, "met");
	json_begin_array(json);
	for (size_t i = 0; i < conditions->count; i++)
		if (result->limits && result->limits[i] == LIMIT_EXCEEDED)
			json_text(json, conditions->items[i].text);
	json_end_array(json);
}

static void put_result(struct json *json, const struct benchmark_report *report,
		       const struct benchmark_result *result)
{
	json_begin_object(json);
	json_put_text(json, "name", result->benchmark->name);
	json_put_text(json, "verdict", benchmark_verdict_word(result));
	benchmark_json_put_side(json, "old", result, true);
	benchmark_json_put_side(json, "new", result, false);
	if (result->failure) {
		json_put_text(json, "error", result->failure);
	} else {
		json_put_text(json, "event", result->event);
		json_put_text(json, "quantity", result->quantity);
		json_put_text(json, "compared", result->compared);
		if (result->harness)
			json_put_text(json, "harness", result->harness);
		json_key(json, "whole");
		if (result->of_shares || result->verdict == BENCHMARK_FEW_SAMPLES) {
			json_null(json);
		} else {
			json_begin_object(json);
			diff_put_change(json, &result->whole);
			json_end_object(json);
		}
		benchmark_json_put_function(json, result);
	}
	put_met(json, report, result);
	json_end_object(json);
}

static void benchmark_json_put_alone(struct json *json, const char *key,
				     const struct benchmarks *benchmarks, bool is_old)
{
	json_key(json, key);
	json_begin_array(json);
	for (size_t i = 0; i < benchmarks->count; i++) {
		const struct benchmark *benchmark = &benchmarks->items[i];

		if (!(is_old ? benchmark->new.count : benchmark->old.count))
			json_text(json, benchmark->name);
	}
	json_end_array(json);
}

void benchmark_report_print_json(const struct benchmark_report *report, FILE *out)
{
	struct json json = json_to(out);

	json_begin_object(&json);
	json_put_text(&json, "schema", "prof-diff-benchmarks/1");
	json_put_real(&json, "confidence", report->options->confidence, DIFF_DIGITS);
	benchmark_json_put_names(&json, "old", report->old);
	benchmark_json_put_names(&json, "new", report->new);
	json_key(&json, "benchmarks");
	json_begin_array(&json);
	for (size_t i = 0; i < report->count; i++)
		put_result(&json, report, &report->results[i]);
	json_end_array(&json);
	benchmark_json_put_alone(&json, "only_old", report->benchmarks, true);
	benchmark_json_put_alone(&json, "only_new", report->benchmarks, false);
	json_end_object(&json);
	fputc('\n', out);
}
