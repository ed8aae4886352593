#include "base/alloc.h"
#include "cmd/diff/diff_report.h"

#include <string.h>

void diff_put_change(struct json *json, const struct change *change)
{
	json_put_real(json, "before", change->before, DIFF_DIGITS);
	json_put_real(json, "after", change->after, DIFF_DIGITS);
	json_put_real(json, "change", change->after - change->before, DIFF_DIGITS);
	json_put_real(json, "margin", change->margin, DIFF_DIGITS);
	json_put_bool(json, "guess", change->is_guess);
	json_key(json, "p");
	if (change->is_guess)
		json_null(json);
	else
		json_real(json, change->p, DIFF_DIGITS);
	json_put_bool(json, "significant", change->is_significant);
}

static void put_object(struct json *json, const char *key, const struct change *change)
{
	json_key(json, key);
	json_begin_object(json);
	diff_put_change(json, change);
	json_end_object(json);
}

static void diff_json_put_side(struct json *json, const char *key, const struct diff_report *report,
			       const struct option_list *files, size_t first)
{
	bool is_old = files == report->old;
	double samples = 0;

	json_key(json, key);
	json_begin_object(json);
	json_key(json, "files");
	json_begin_array(json);
	for (size_t i = 0; i < files->count; i++) {
		json_text(json, files->items[i]);
		samples += report->diff->wholes[first + i].samples;
	}
	json_end_array(json);
	json_put_real(json, "samples", samples, 17);
	json_put_real(json, "weight", is_old ? report->diff->old_weight : report->diff->new_weight,
		      17);
	json_end_object(json);
}

static void diff_json_put_functions(struct json *json, const struct diff_report *report)
{
	const struct display_labels *labels = &report->diff->labels;

	json_key(json, report->label ? "values" : "functions");
	json_begin_array(json);
	for (uint32_t i = 0; i < report->diff->count; i++) {
		const struct diff_row *row = &report->diff->rows[i];
		const struct label *label = &labels->items[row->label];
		const struct profile_module *module = profile_get_module(labels->profile,
									 label->module);

		json_begin_object(json);
		json_put_text(json, "name", label->shown);
		if (!report->label) {
			json_put_text(json, "module",
				      profile_string(labels->profile, module->path));
			json_put_text(json, "file", profile_string(labels->profile, label->file));
		}
		put_object(json, "self", &row->self);
		put_object(json, "total", &row->total);
		json_end_object(json);
	}
	json_end_array(json);
}

/* Writes the stack from the root on. */
static void diff_json_put_stack(struct json *json, const struct diff *diff, uint32_t at)
{
	CLEANUP(free_ptr) const char **path = NULL;
	size_t depth = 0, room = 0;

	for (; at != DIFF_TOP; at = diff->stacks[at].parent) {
		GROW(path, depth, room);
		path[depth++] = diff->labels.items[diff->stacks[at].label].shown;
	}
	json_key(json, "stack");
	json_begin_array(json);
	while (depth)
		json_text(json, path[--depth]);
	json_end_array(json);
}

static void diff_json_put_stacks(struct json *json, const struct diff *diff)
{
	json_key(json, "stacks");
	json_begin_array(json);
	for (uint32_t i = 1; i < diff->stack_count; i++) {
		if (!diff->stacks[i].change.is_notable)
			continue;
		json_begin_object(json);
		diff_json_put_stack(json, diff, i);
		diff_put_change(json, &diff->stacks[i].change);
		json_end_object(json);
	}
	json_end_array(json);
}

void diff_print_json(const struct diff_report *report, FILE *out)
{
	struct json json = json_to(out);
	bool of_shares = report->options->kind == COMPARE_SHARES;

	json_begin_object(&json);
	json_put_text(&json, "schema", "prof-diff/1");
	json_put_text(&json, "event", report->event);
	json_put_text(&json, "quantity", report->quantity);
	json_put_text(&json, "compared", diff_compared(report));
	if (report->harness)
		json_put_text(&json, "harness", report->harness);
	json_put_real(&json, "confidence", report->options->confidence, DIFF_DIGITS);
	json_put_real(&json, "noise", report->diff->overdispersion, DIFF_DIGITS);
	diff_json_put_side(&json, "old", report, report->old, 0);
	diff_json_put_side(&json, "new", report, report->new, report->old->count);
	if (report->label)
		json_put_text(&json, "label", report->label);
	json_put_text(&json, "verdict", diff_verdict_word(report));
	json_key(&json, "whole");
	if (of_shares || report->diff->verdict == DIFF_NOTHING) {
		json_null(&json);
	} else {
		json_begin_object(&json);
		diff_put_change(&json, &report->diff->whole);
		json_end_object(&json);
	}
	json_key(&json, "unsampled");
	json_begin_object(&json);
	json_put_real(&json, "before", report->diff->unsampled.before, DIFF_DIGITS);
	json_put_real(&json, "after", report->diff->unsampled.after, DIFF_DIGITS);
	json_end_object(&json);
	diff_json_put_functions(&json, report);
	if (!report->label)
		diff_json_put_stacks(&json, report->diff);
	json_end_object(&json);
	fputc('\n', out);
}
