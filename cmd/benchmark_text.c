#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/benchmark_report.h"
#include "cmd/diff_report.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANGE_COLUMNS = 17, /* "▲  +12.3 ±1.2   " */
	VALUE_COLUMNS = 12,
	LEAST_NAME_COLUMNS = 9, /* "benchmark" */
	MOST_NAME_COLUMNS = 40,
	LEAST_FUNCTION_COLUMNS = 20,
	POINTS_COLUMNS = 20, /* " +12.3 ±1.2 points" */
};

struct printer {
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

static void put_change(const struct printer *printer, const struct benchmark_result *result)
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
		fprintf(printer->out, "%-*s", CHANGE_COLUMNS - 1,
			result->verdict == BENCHMARK_FEW_SAMPLES ? "  few samples" : "  shares");
	fputs(pager_sequence(printer->pager, STYLE_PLAIN), printer->out);
}

static void put_weight(const struct printer *printer, const struct benchmark_result *result,
		       double weight)
{
	fprintf(printer->out, "%*s", VALUE_COLUMNS,
		diff_humanize(result->kind, result->unit, weight).text);
}

static void put_padded(const struct printer *printer, const char *text, int columns)
{
	int used = (int)printable_columns(text);

	fprintf(printer->out, "%s%*s", text, used < columns ? columns - used : 0, "");
}

static void put_name(const struct printer *printer, const struct benchmark_result *result)
{
	CLEANUP(free_ptr) char *name = printable(result->benchmark->name);

	fputs("  ", printer->out);
	if (result->function)
		put_padded(printer, name, printer->name_columns);
	else
		fputs(name, printer->out);
}

static void put_function(const struct printer *printer, const struct benchmark_result *result)
{
	int taken = CHANGE_COLUMNS + 2 * VALUE_COLUMNS + 4 + printer->name_columns + POINTS_COLUMNS;
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

static void put_row(const struct printer *printer, const struct benchmark_result *result)
{
	if (result->verdict == BENCHMARK_FAILED) {
		fprintf(printer->out, "%-*s", CHANGE_COLUMNS - 1 + 2 * VALUE_COLUMNS, "  failed");
	} else {
		put_change(printer, result);
		put_weight(printer, result, result->old_weight);
		put_weight(printer, result, result->new_weight);
	}
	put_name(printer, result);
	put_function(printer, result);
	fputc('\n', printer->out);
}

static void put_rows(const struct printer *printer)
{
	fprintf(printer->out, "\n%s     %% change  %*s%*s  ",
		pager_sequence(printer->pager, STYLE_HEADING), VALUE_COLUMNS, "old", VALUE_COLUMNS,
		"new");
	put_padded(printer, "benchmark", printer->name_columns);
	fprintf(printer->out, "  function that has changed most%s\n",
		pager_sequence(printer->pager, STYLE_PLAIN));
	for (size_t i = 0; i < printer->report->count; i++)
		put_row(printer, &printer->report->results[i]);
}

/* Those that are on one side only. */
static void put_alone(const struct printer *printer, bool is_old)
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

/* The first benchmark that could be compared says what was compared. */
static void put_heading(const struct printer *printer)
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

static bool has(const struct benchmark_report *report, bool (*is)(const struct benchmark_result *))
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

static bool is_of_shares(const struct benchmark_result *result)
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
	char *noise = has(report, is_unjudged)
			      ? diff_unjudged_words(options->noise, "parse.1.pb.gz, parse.2.pb.gz")
			      : xstrdup("");
	CLEANUP(free_ptr) char *shares = xstrdup("");

	if (harness || has(report, is_of_shares)) {
		free(shares);
		shares = harness ? xasprintf("\nshares are compared: %s runs for a fixed time, "
					     "however slow a function is",
					     harness)
				 : xstrdup("\nshares: the time of these recordings says nothing "
					   "about their speed; only shares of functions are "
					   "compared");
	}
	return xasprintf("%g %% confidence for all benchmarks together%s%s",
			 options->confidence * 100, noise, shares);
}

static int name_columns(const struct benchmark_report *report)
{
	int most = LEAST_NAME_COLUMNS;

	for (size_t i = 0; i < report->count; i++) {
		CLEANUP(free_ptr) char *name = printable(report->results[i].benchmark->name);
		int columns = (int)printable_columns(name);

		most = columns > most ? columns : most;
	}
	return most < MOST_NAME_COLUMNS ? most : MOST_NAME_COLUMNS;
}

void benchmark_report_print(const struct benchmark_report *report, const struct pager *pager)
{
	const struct printer printer = {.report = report,
					.pager = pager,
					.out = pager->out,
					.name_columns = name_columns(report)};
	CLEANUP(free_ptr) char *verdicts = benchmark_verdicts(report);
	CLEANUP(free_ptr) char *uncertainty = benchmark_uncertainty(report);

	put_heading(&printer);
	fprintf(printer.out, "%s\n", verdicts);
	put_rows(&printer);
	put_alone(&printer, true);
	put_alone(&printer, false);
	fprintf(printer.out, "\n%s\n", uncertainty);
}
