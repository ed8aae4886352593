/*
 * Writes the summaries of prof diff in Markdown, for pull requests.
 */
#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/diff/benchmark_report.h"
#include "cmd/diff/diff_report.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/*
 * Writes text as code. All punctuation becomes character references, so that a
 * name cannot become markup, a table column, HTML, a link or a user's mention.
 */
static void put_code(FILE *out, const char *text)
{
	CLEANUP(free_ptr) char *safe = printable(text);

	fputs("<code>", out);
	for (const char *at = safe; *at; at++) {
		unsigned char character = (unsigned char)*at;

		if (character >= 0x80 || isalnum(character) || character == ' ')
			fputc(character, out);
		else
			fprintf(out, "&#%u;", character);
	}
	fputs("</code>", out);
}

static void diff_markdown_put_change(FILE *out, const struct change *change)
{
	double value = diff_percent(diff_change_of(change));

	fprintf(out, " %s%+.1f ± %.1f |",
		!change->is_significant ? ""
		: value > 0		? "▲ "
					: "▼ ",
		value, diff_percent(change->margin));
}

static void diff_markdown_put_side(const struct diff_report *report, const char *title,
				   const struct option_list *files, size_t first, double weight,
				   FILE *out)
{
	double samples = 0;

	for (size_t i = 0; i < files->count; i++)
		samples += report->diff->wholes[first + i].samples;
	fprintf(out, "| %s | %zu | %s | %s |\n", title, files->count,
		humanize_count((uint64_t)llround(samples)).text,
		diff_humanize(report->kind, report->unit, weight).text);
}

static void diff_markdown_put_sides(const struct diff_report *report, FILE *out)
{
	const struct diff *diff = report->diff;

	fputs("\n| | recordings | samples | ", out);
	put_code(out, report->quantity);
	fprintf(out, "%s |\n|---|--:|--:|--:|\n",
		report->is_per_iteration ? "" : ", mean of the recordings");
	diff_markdown_put_side(report, "old", report->old, 0, diff->old_weight, out);
	diff_markdown_put_side(report, "new", report->new, report->old->count, diff->new_weight,
			       out);
}

static void diff_markdown_put_row(const struct diff_report *report, const struct diff_row *row,
				  FILE *out)
{
	fputs("| ", out);
	put_code(out, report->diff->labels.items[row->label].shown);
	fputs(" |", out);
	diff_markdown_put_change(out, &row->self);
	fprintf(out, " %.1f | %.1f |", diff_percent(row->self.before),
		diff_percent(row->self.after));
	diff_markdown_put_change(out, &row->total);
	fputc('\n', out);
}

static void diff_markdown_put_rows(const struct diff_report *report, FILE *out)
{
	uint64_t shown = 0;

	for (uint32_t i = 0; i < report->diff->count && shown < report->rows; i++) {
		if (!diff_row_is_shown(report->diff, &report->diff->rows[i]))
			continue;
		if (!shown++) {
			fputs("\n| ", out);
			if (report->label)
				put_code(out, report->label);
			else
				fputs("function", out);
			fprintf(out, " | self change | old | new | total change |\n"
				     "|---|--:|--:|--:|--:|\n");
		}
		diff_markdown_put_row(report, &report->diff->rows[i], out);
	}
	if (shown)
		fprintf(out, "\nIn %% of %s weight; ▲ and ▼ are significant.\n",
			report->options->kind == COMPARE_WEIGHTS ? "the old" : "each side's");
}

/* The verdict is written as code, because event names may come from a file. */
void diff_print_markdown(const struct diff_report *report, FILE *out)
{
	CLEANUP(free_ptr) char *verdict = diff_verdict_line(report);
	CLEANUP(free_ptr) char *unsampled = diff_unsampled_words(report);
	CLEANUP(free_ptr) char *uncertainty = NULL;

	fputs("### prof diff: ", out);
	put_code(out, verdict);
	fputc('\n', out);
	diff_markdown_put_sides(report, out);
	if (report->diff->verdict == DIFF_NOTHING)
		return;
	diff_markdown_put_rows(report, out);
	if (unsampled)
		fprintf(out, "\n%s\n", unsampled);
	if (report->elapsed) {
		fputc('\n', out);
		put_code(out, report->elapsed);
		fputc('\n', out);
	}
	uncertainty = diff_uncertainty(report);
	fprintf(out, "\n%s\n", uncertainty);
}

static void put_benchmark(const struct benchmark_result *result, FILE *out)
{
	const struct benchmark *benchmark = result->benchmark;

	fputs("| ", out);
	put_code(out, benchmark->name);
	fprintf(out, " | %s | %zu / %zu |", benchmark_verdict_word(result), benchmark->old.count,
		benchmark->new.count);
	if (result->verdict == BENCHMARK_FAILED || result->verdict == BENCHMARK_FEW_SAMPLES ||
	    result->of_shares)
		fputs(" |", out);
	else
		diff_markdown_put_change(out, &result->whole);
	fputc(' ', out);
	if (result->function) {
		put_code(out, result->function);
		fprintf(out, " %+.1f ± %.1f points", diff_percent(diff_change_of(&result->self)),
			diff_percent(result->self.margin));
	}
	fputs(" |\n", out);
}

static void diff_markdown_put_alone(const struct benchmark_report *report, bool is_old, FILE *out)
{
	const struct benchmarks *benchmarks = report->benchmarks;
	size_t count = 0;

	for (size_t i = 0; i < benchmarks->count; i++) {
		const struct benchmark *benchmark = &benchmarks->items[i];

		if (is_old ? benchmark->new.count : benchmark->old.count)
			continue;
		if (count++)
			fputs(", ", out);
		else
			fprintf(out, "\nOnly on the %s side: ", is_old ? "old" : "new");
		put_code(out, benchmark->name);
	}
	if (count)
		fputc('\n', out);
}

void benchmark_report_print_markdown(const struct benchmark_report *report, FILE *out)
{
	CLEANUP(free_ptr) char *verdicts = benchmark_verdicts(report);
	CLEANUP(free_ptr) char *uncertainty = benchmark_uncertainty(report);

	fprintf(out,
		"### prof diff: %s\n\n| benchmark | verdict | recordings | %% change | function "
		"that "
		"has changed most |\n|---|---|--:|--:|---|\n",
		verdicts);
	for (size_t i = 0; i < report->count; i++)
		put_benchmark(&report->results[i], out);
	diff_markdown_put_alone(report, true, out);
	diff_markdown_put_alone(report, false, out);
	fprintf(out, "\n%s\n", uncertainty);
}
