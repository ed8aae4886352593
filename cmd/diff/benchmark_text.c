#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/diff/benchmark_report.h"
#include "cmd/diff/diff_report.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BENCHMARK_CHANGE_COLUMNS = 17, /* "▲  +12.3 ±1.2   " */
	VALUE_COLUMNS = 12,
	BENCHMARK_LEAST_NAME_COLUMNS = 9, /* "benchmark" */
	MOST_NAME_COLUMNS = 40,
	LEAST_FUNCTION_COLUMNS = 20,
	POINTS_COLUMNS = 20, /* " +12.3 ±1.2 points" */
};

struct benchmark_text_printer {
	const struct benchmark_report *report;
	const struct pager *pager;
	FILE *out;
	int name_columns;
};

const char *benchmark_verdict_word(const struct benchmark_result *result)
{
	bool is_speed = diff_is_speed(result->kind);

	switch (result->verdict) {
	case BENCHMARK_SLOWER:
		return is_speed ? "slower" : "more";
	case BENCHMARK_FASTER:
		return is_speed ? "faster" : "less";
	case BENCHMARK_CHANGED:
		return "changed";
	case BENCHMARK_SAME:
		return "no significant change";
	case BENCHMARK_UNJUDGED:
		return "cannot be judged";
	case BENCHMARK_FEW_SAMPLES:
		return "too few samples";
	case BENCHMARK_FAILED:
	case BENCHMARK_VERDICTS:
		break;
	}
	return "failed";
}

static bool has_whole(const struct benchmark_result *result)
{
	return !result->of_shares && result->verdict != BENCHMARK_FEW_SAMPLES;
}

static void benchmark_text_put_change(const struct benchmark_text_printer *printer,
				      const struct benchmark_result *result)
{
	const struct change *whole = &result->whole;
	const char *sign = " ";
	enum style style = STYLE_FAINT;

	if (whole->is_significant) {
		sign = diff_change_of(whole) > 0 ? "▲" : "▼";
		style = diff_change_of(whole) > 0 ? STYLE_HOT : STYLE_LESS;
	}
	fputs(pager_sequence(printer->pager, style), printer->out);
	if (has_whole(result))
		fprintf(printer->out, "%s%+7.1f ±%-6.1f ", sign,
			diff_percent(diff_change_of(whole)), diff_percent(whole->margin));
	else
		fprintf(printer->out, "%-*s", BENCHMARK_CHANGE_COLUMNS - 1,
			result->verdict == BENCHMARK_FEW_SAMPLES ? "  few samples" : "  shares");
	fputs(pager_sequence(printer->pager, STYLE_PLAIN), printer->out);
}

static void benchmark_text_put_weight(const struct benchmark_text_printer *printer,
				      const struct benchmark_result *result, double weight)
{
	fprintf(printer->out, "%*s", VALUE_COLUMNS,
		diff_humanize(result->kind, result->unit, weight).text);
}

static void put_padded(const struct benchmark_text_printer *printer, const char *text, int columns)
{
	int used = (int)printable_columns(text);

	fprintf(printer->out, "%s%*s", text, used < columns ? columns - used : 0, "");
}

static void benchmark_text_put_name(const struct benchmark_text_printer *printer,
				    const struct benchmark_result *result)
{
	CLEANUP(free_ptr) char *name = printable(result->benchmark->name);

	fputs("  ", printer->out);
	if (result->function)
		put_padded(printer, name, printer->name_columns);
	else
		fputs(name, printer->out);
}

static void benchmark_text_put_function(const struct benchmark_text_printer *printer,
					const struct benchmark_result *result)
{
	int taken = BENCHMARK_CHANGE_COLUMNS + 2 * VALUE_COLUMNS + 4 + printer->name_columns +
		    POINTS_COLUMNS;
	int columns = (int)printer->pager->columns - taken;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(free_ptr) char *name = NULL;

	if (!result->function)
		return;
	text = printable(result->function);
	name = shorten(text,
		       columns > LEAST_FUNCTION_COLUMNS ? (size_t)columns : LEAST_FUNCTION_COLUMNS);
	fprintf(printer->out, "  %s %+.1f ±%.1f points", name,
		diff_percent(diff_change_of(&result->self)), diff_percent(result->self.margin));
}

static void benchmark_text_put_row(const struct benchmark_text_printer *printer,
				   const struct benchmark_result *result)
{
	if (result->verdict == BENCHMARK_FAILED) {
		fprintf(printer->out, "%-*s", BENCHMARK_CHANGE_COLUMNS - 1 + 2 * VALUE_COLUMNS,
			"  failed");
	} else {
		benchmark_text_put_change(printer, result);
		benchmark_text_put_weight(printer, result, result->old_weight);
		benchmark_text_put_weight(printer, result, result->new_weight);
	}
	benchmark_text_put_name(printer, result);
	benchmark_text_put_function(printer, result);
	fputc('\n', printer->out);
}

static void benchmark_text_put_rows(const struct benchmark_text_printer *printer)
{
	fprintf(printer->out, "\n%s     %% change  %*s%*s  ",
		pager_sequence(printer->pager, STYLE_HEADING), VALUE_COLUMNS, "old", VALUE_COLUMNS,
		"new");
	put_padded(printer, "benchmark", printer->name_columns);
	fprintf(printer->out, "  function that has changed most%s\n",
		pager_sequence(printer->pager, STYLE_PLAIN));
	for (size_t i = 0; i < printer->report->count; i++)
		benchmark_text_put_row(printer, &printer->report->results[i]);
}

/* Prints the benchmarks that only one side has. */
static void benchmark_text_put_alone(const struct benchmark_text_printer *printer, bool is_old)
{
	const struct benchmarks *benchmarks = printer->report->benchmarks;
	size_t count = 0;

	for (size_t i = 0; i < benchmarks->count; i++) {
		const struct benchmark *benchmark = &benchmarks->items[i];
		CLEANUP(free_ptr) char *name = printable(benchmark->name);

		if (is_old ? benchmark->new.count : benchmark->old.count)
			continue;
		fprintf(printer->out, "%s%s",
			count++	 ? ", "
			: is_old ? "\nonly on the old side: "
				 : "\nonly on the new side: ",
			name);
	}
	if (count)
		fputc('\n', printer->out);
}

char *benchmark_verdicts(const struct benchmark_report *report)
{
	static const enum benchmark_verdict order[] = {
		BENCHMARK_SLOWER,   BENCHMARK_FASTER,	   BENCHMARK_CHANGED, BENCHMARK_SAME,
		BENCHMARK_UNJUDGED, BENCHMARK_FEW_SAMPLES, BENCHMARK_FAILED};
	char *text = xstrdup("");

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const struct benchmark_result *example = NULL;
		CLEANUP(free_ptr) char *before = NULL;
		size_t count = 0;

		for (size_t j = 0; j < report->count; j++) {
			if (report->results[j].verdict != order[i])
				continue;
			example = &report->results[j];
			count++;
		}
		if (!count)
			continue;
		before = text;
		text = xasprintf("%s%s%zu %s", before, *before ? ", " : "", count,
				 benchmark_verdict_word(example));
	}
	return text;
}

/* The first benchmark that could be compared determines what is printed. */
static void benchmark_text_put_heading(const struct benchmark_text_printer *printer)
{
	const struct benchmark_report *report = printer->report;

	for (size_t i = 0; i < report->count; i++) {
		const struct benchmark_result *result = &report->results[i];
		CLEANUP(free_ptr) char *quantity = NULL;
		CLEANUP(free_ptr) char *event = NULL;

		if (result->verdict == BENCHMARK_FAILED)
			continue;
		quantity = printable(result->quantity);
		event = printable(result->event);
		fprintf(printer->out, "compared: %s (event %s)\n", quantity, event);
		break;
	}
}

static bool benchmark_text_has(const struct benchmark_report *report,
			       bool (*is)(const struct benchmark_result *))
{
	for (size_t i = 0; i < report->count; i++)
		if (is(&report->results[i]))
			return true;
	return false;
}

static bool is_unjudged(const struct benchmark_result *result)
{
	return result->whole.is_guess;
}

static bool benchmark_text_is_of_shares(const struct benchmark_result *result)
{
	return result->of_shares;
}

static const char *harness_of_any(const struct benchmark_report *report)
{
	const char *harness = NULL;

	for (size_t i = 0; !harness && i < report->count; i++)
		harness = report->results[i].harness;
	return harness;
}

char *benchmark_uncertainty(const struct benchmark_report *report)
{
	const struct diff_command_options *options = report->options;
	const char *harness = harness_of_any(report);
	CLEANUP(free_ptr)
	char *noise = benchmark_text_has(report, is_unjudged)
			      ? diff_unjudged_words(options->noise, "parse.1.pb.gz, parse.2.pb.gz")
			      : xstrdup("");
	CLEANUP(free_ptr) char *shares = xstrdup("");

	if (harness || benchmark_text_has(report, benchmark_text_is_of_shares)) {
		free(shares);
		shares = harness ? diff_shares_words(harness)
				 : xstrdup("\nshares: the duration of these recordings does not "
					   "depend on their speed; only shares of functions are "
					   "compared");
	}
	return xasprintf("%g %% confidence for all benchmarks together%s%s",
			 options->confidence * 100, noise, shares);
}

static int benchmark_text_name_columns(const struct benchmark_report *report)
{
	int most = BENCHMARK_LEAST_NAME_COLUMNS;

	for (size_t i = 0; i < report->count; i++) {
		CLEANUP(free_ptr) char *name = printable(report->results[i].benchmark->name);
		int columns = (int)printable_columns(name);

		most = columns > most ? columns : most;
	}
	return most < MOST_NAME_COLUMNS ? most : MOST_NAME_COLUMNS;
}

void benchmark_report_print(const struct benchmark_report *report, const struct pager *pager)
{
	const struct benchmark_text_printer printer = {
		.report = report,
		.pager = pager,
		.out = pager->out,
		.name_columns = benchmark_text_name_columns(report)};
	CLEANUP(free_ptr) char *verdicts = benchmark_verdicts(report);
	CLEANUP(free_ptr) char *uncertainty = benchmark_uncertainty(report);

	benchmark_text_put_heading(&printer);
	fprintf(printer.out, "%s\n", verdicts);
	benchmark_text_put_rows(&printer);
	benchmark_text_put_alone(&printer, true);
	benchmark_text_put_alone(&printer, false);
	fprintf(printer.out, "\n%s\n", uncertainty);
}
