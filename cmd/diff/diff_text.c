#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/diff/diff_report.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	DIFF_CHANGE_COLUMNS = 16, /* "▲ +12.3 ±1.2   " */
	VALUES_COLUMNS = 15,	  /* "  12.3    23.4 " */
	WIDE_COLUMNS = 100,	  /* room for the values of totals */
	DIFF_LEAST_NAME_COLUMNS = 20,
	ACCOUNTED = 3, /* number of functions in the verdict */
	ACCOUNTED_COLUMNS = 40,
	MOST_INDENT = 20,
};

/* Stacks are shown if their change is at least this share of the whole. */
#define LEAST_CHANGE 0.002
/* A caller and its callee share a line if their changes differ by at most this part. */
#define CHAIN_TOLERANCE 0.1

struct diff_text_printer {
	const struct diff_report *report;
	const struct diff *diff;
	const struct pager *pager;
	FILE *out;
	uint64_t lines_left; /* remaining lines of the tree */
};

/* An iteration may take less than a nanosecond. */
struct humanized diff_humanize(enum value_kind kind, const char *unit, double weight)
{
	struct humanized text;

	if (!value_is_time(kind) || strcmp(unit, "nanoseconds") != 0 || weight >= 1000)
		return value_humanize(kind, unit, (uint64_t)llround(weight));
	snprintf(text.text, sizeof(text.text), "%.3g ns", weight);
	return text;
}

const char *diff_compared(const struct diff_report *report)
{
	if (report->is_per_iteration)
		return "iterations";
	return report->options->kind == COMPARE_SHARES ? "shares" : "recordings";
}

bool diff_is_speed(enum value_kind kind)
{
	return value_is_time(kind) && kind != VALUE_OFF_CPU_TIME;
}

const char *diff_verdict_word(const struct diff_report *report)
{
	switch (report->diff->verdict) {
	case DIFF_SLOWER:
		return diff_is_speed(report->kind) ? "slower" : "more";
	case DIFF_FASTER:
		return diff_is_speed(report->kind) ? "faster" : "less";
	case DIFF_CHANGED:
		return "changed";
	case DIFF_SAME:
		return "no significant change";
	case DIFF_UNJUDGED:
		return "cannot be judged";
	case DIFF_NOTHING:
		break;
	}
	return "no samples";
}

/* The caller frees the name. */
static char *diff_text_name_of(const struct diff *diff, uint32_t label, size_t columns)
{
	CLEANUP(free_ptr) char *name = printable(diff->labels.items[label].shown);

	return shorten(name, columns);
}

double diff_change_of(const struct change *change)
{
	return change->after - change->before;
}

double diff_percent(double share)
{
	double value = round(share * 1000) / 10;

	return value == 0 ? 0 : value;
}

static void diff_text_put_weight(const struct diff_text_printer *printer, double weight)
{
	fprintf(printer->out, "%12s",
		diff_humanize(printer->report->kind, printer->report->unit, weight).text);
}

static void diff_text_put_side(const struct diff_text_printer *printer, const char *title,
			       const struct option_list *files, uint32_t first, double weight)
{
	CLEANUP(free_ptr) char *path = printable(files->items[0]);
	double samples = 0;

	for (size_t i = 0; i < files->count; i++)
		samples += printer->diff->wholes[first + i].samples;
	fputs(title, printer->out);
	diff_text_put_weight(printer, weight);
	fprintf(printer->out, "%s  %s samples  %s",
		printer->report->is_per_iteration		    ? " per iteration"
		: printer->report->options->kind == COMPARE_WEIGHTS ? " per recording"
								    : "",
		humanize_count((uint64_t)llround(samples)).text, path);
	if (files->count > 1)
		fprintf(printer->out, " and %zu more", files->count - 1);
	fputc('\n', printer->out);
}

static void diff_text_put_sides(const struct diff_text_printer *printer)
{
	const struct diff_report *report = printer->report;

	fprintf(printer->out, "compared: %s%s (event %s)\n",
		report->options->kind == COMPARE_WEIGHTS ? "" : "shares of ", report->quantity,
		report->event);
	diff_text_put_side(printer, "old", report->old, 0, printer->diff->old_weight);
	diff_text_put_side(printer, "new", report->new, (uint32_t)report->old->count,
			   printer->diff->new_weight);
}

/* Appends a line to *lines. */
static void add_line(char **lines, const char *line)
{
	CLEANUP(free_ptr) char *before = *lines;

	*lines = xasprintf("%s%s%s", before, *before ? "\n" : "", line);
}

/* Returns "parse +11.0 points, copy -2.1 points", or "". The caller frees it. */
static char *largest_changes(const struct diff *diff)
{
	uint32_t count = 0;
	char *words = xstrdup("");

	for (; count < diff->count && diff->rows[count].self.is_notable; count++) {
		const struct diff_row *row = &diff->rows[count];
		CLEANUP(free_ptr) char *before = NULL;
		CLEANUP(free_ptr) char *name = NULL;

		if (count >= ACCOUNTED)
			continue;
		before = words;
		name = diff_text_name_of(diff, row->label, ACCOUNTED_COLUMNS);
		words = xasprintf("%s%s%s %+.1f points", before, count ? ", " : "", name,
				  diff_percent(diff_change_of(&row->self)));
	}
	if (count > ACCOUNTED) {
		CLEANUP(free_ptr) char *before = words;

		words = xasprintf("%s and %u more", before, count - ACCOUNTED);
	}
	return words;
}

char *diff_causes(const struct diff_report *report)
{
	CLEANUP(free_ptr) char *unsampled = diff_unsampled_words(report);
	char *lines = largest_changes(report->diff);

	if (unsampled)
		add_line(&lines, unsampled);
	if (report->elapsed)
		add_line(&lines, report->elapsed);
	return lines;
}

char *diff_unsampled_words(const struct diff_report *report)
{
	const struct diff_unsampled *unsampled = &report->diff->unsampled;
	double change = unsampled->after - unsampled->before;

	if (fabs(change) < DIFF_LEAST_CHANGE)
		return NULL;
	return xasprintf("%+.1f points were not sampled and belong to no function: %.1f %% before, "
			 "%.1f %% after",
			 diff_percent(change), diff_percent(unsampled->before),
			 diff_percent(unsampled->after));
}

/* Returns "+12.3 % ± 2.1 % CPU time". The caller frees it. */
static char *whole_words(const struct diff_report *report)
{
	const struct change *whole = &report->diff->whole;

	return xasprintf("%+.1f %% ± %.1f %%%s %s", diff_percent(diff_change_of(whole)),
			 diff_percent(whole->margin), whole->is_guess ? " (a guess)" : "",
			 report->quantity);
}

/* The caller frees the line. */
static char *unjudged_line(const struct diff_report *report, const char *whole)
{
	bool of_shares = report->options->kind == COMPARE_SHARES;

	return xasprintf("%s with one recording on a side%s%s", diff_verdict_word(report),
			 of_shares ? "" : ": ", of_shares ? "" : whole);
}

char *diff_verdict_line(const struct diff_report *report)
{
	const struct diff *diff = report->diff;
	CLEANUP(free_ptr) char *whole = whole_words(report);
	CLEANUP(free_ptr)
	char *rows = report->label ? xasprintf("values of %s", report->label)
				   : xstrdup("functions");
	bool of_shares = report->options->kind == COMPARE_SHARES;

	if (diff->verdict == DIFF_NOTHING)
		return xasprintf("nothing to compare: the %s side has no samples",
				 diff->old_weight > 0 ? "new" : "old");
	if (diff->verdict == DIFF_UNJUDGED)
		return unjudged_line(report, whole);
	if (diff->verdict == DIFF_CHANGED && of_shares)
		return xasprintf("%s have changed", rows);
	if (diff->verdict == DIFF_CHANGED)
		return xasprintf("%s have changed; the whole has not, as far as can be seen: %s",
				 rows, whole);
	if (of_shares)
		return xstrdup(diff_verdict_word(report));
	return xasprintf("%s: %s", diff_verdict_word(report), whole);
}

/* Prints lines, indented. */
static void diff_text_put_lines(const struct diff_text_printer *printer, const char *lines)
{
	while (*lines) {
		size_t length = strcspn(lines, "\n");

		fprintf(printer->out, "  %.*s\n", (int)length, lines);
		lines += length + (lines[length] == '\n');
	}
}

static void put_verdict(const struct diff_text_printer *printer)
{
	static const enum style styles[] = {[DIFF_SLOWER] = STYLE_HOT,
					    [DIFF_FASTER] = STYLE_LESS,
					    [DIFF_CHANGED] = STYLE_HEADING};
	CLEANUP(free_ptr) char *line = diff_verdict_line(printer->report);
	CLEANUP(free_ptr) char *causes = diff_causes(printer->report);

	fprintf(printer->out, "\n%s%s%s\n",
		pager_sequence(printer->pager, styles[printer->diff->verdict]), line,
		pager_sequence(printer->pager, STYLE_PLAIN));
	diff_text_put_lines(printer, causes);
}

/* Significant changes have a sign and a colour; others are faint. */
static void diff_text_put_change(const struct diff_text_printer *printer,
				 const struct change *change)
{
	double value = diff_change_of(change);
	enum style style = !change->is_significant ? STYLE_FAINT
			   : value > 0		   ? STYLE_HOT
						   : STYLE_LESS;

	fprintf(printer->out, "%s%s %+6.1f ±%-5.1f%s", pager_sequence(printer->pager, style),
		!change->is_significant ? " "
		: value > 0		? "▲"
					: "▼",
		diff_percent(value), diff_percent(change->margin),
		pager_sequence(printer->pager, STYLE_PLAIN));
}

static void diff_text_put_values(const struct diff_text_printer *printer,
				 const struct change *change)
{
	fprintf(printer->out, "%6.1f %6.1f  ", diff_percent(change->before),
		diff_percent(change->after));
}

static bool is_wide(const struct diff_text_printer *printer)
{
	return printer->pager->columns >= WIDE_COLUMNS;
}

static size_t diff_text_name_columns(const struct diff_text_printer *printer, size_t taken)
{
	return printer->pager->columns > taken + DIFF_LEAST_NAME_COLUMNS
		       ? printer->pager->columns - taken
		       : DIFF_LEAST_NAME_COLUMNS;
}

static void diff_text_put_row(const struct diff_text_printer *printer, const struct diff_row *row)
{
	size_t taken = 2 * DIFF_CHANGE_COLUMNS + (is_wide(printer) ? 2 : 1) * VALUES_COLUMNS;
	CLEANUP(free_ptr)
	char *name = diff_text_name_of(printer->diff, row->label,
				       diff_text_name_columns(printer, taken));

	diff_text_put_change(printer, &row->self);
	diff_text_put_values(printer, &row->self);
	diff_text_put_change(printer, &row->total);
	if (is_wide(printer))
		diff_text_put_values(printer, &row->total);
	fprintf(printer->out, " %s\n", name);
}

bool diff_row_is_shown(const struct diff *diff, const struct diff_row *row)
{
	return row->self.is_notable || fabs(diff_change_of(&row->self)) >= DIFF_LEAST_CHANGE ||
	       (row->total.is_notable && !diff_row_is_whole(diff, row));
}

static void diff_text_put_table(const struct diff_text_printer *printer)
{
	bool of_old = printer->report->options->kind == COMPARE_WEIGHTS;
	uint64_t shown = 0;

	for (uint32_t i = 0; i < printer->diff->count; i++) {
		if (!diff_row_is_shown(printer->diff, &printer->diff->rows[i]))
			continue;
		if (!shown)
			fprintf(printer->out,
				"\n%% of %s%s\n    self change    old    new      total change%s  "
				"%s\n",
				of_old ? "old's " : "each side's ", printer->report->quantity,
				is_wide(printer) ? "   old    new  " : "",
				printer->report->label ? printer->report->label : "function");
		if (shown++ == printer->report->rows)
			break;
		diff_text_put_row(printer, &printer->diff->rows[i]);
	}
}

static bool diff_text_is_shown(const struct diff_text_printer *printer, uint32_t stack)
{
	const struct change *change = &printer->diff->stacks[stack].change;

	return change->is_notable && fabs(diff_change_of(change)) >= LEAST_CHANGE;
}

/* Returns the only callee that is shown, if its change is that of its caller;
 * otherwise 0. */
static uint32_t only_way_on(const struct diff_text_printer *printer, uint32_t stack)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	double change = diff_change_of(&stacks[stack].change);
	uint32_t only = 0;

	for (uint32_t i = stacks[stack].first_child; i; i = stacks[i].next_sibling) {
		if (!diff_text_is_shown(printer, i))
			continue;
		if (only)
			return 0;
		only = i;
	}
	if (only &&
	    fabs(diff_change_of(&stacks[only].change) - change) > fabs(change) * CHAIN_TOLERANCE)
		return 0;
	return only;
}

/* Returns "main › run › parse", up to `last`, without the first names if there
 * is no room. The caller frees it. */
static char *diff_text_chain_of(const struct diff_text_printer *printer, uint32_t first,
				uint32_t last, size_t columns)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	char *chain = diff_text_name_of(printer->diff, stacks[last].label, columns);
	size_t used = strlen(chain);

	while (last != first) {
		CLEANUP(free_ptr) char *rest = chain;
		CLEANUP(free_ptr) char *name = NULL;

		last = stacks[last].parent;
		name = diff_text_name_of(printer->diff, stacks[last].label, columns);
		used += strlen(name) + strlen(" > ");
		if (used + strlen("... > ") > columns)
			return xasprintf("… › %s", rest);
		chain = xasprintf("%s › %s", name, rest);
	}
	return chain;
}

static void put_children(struct diff_text_printer *printer, uint32_t stack, unsigned indent);

static void put_node(struct diff_text_printer *printer, uint32_t first, unsigned indent)
{
	size_t taken = DIFF_CHANGE_COLUMNS + VALUES_COLUMNS + indent;
	uint32_t last = first, next;
	CLEANUP(free_ptr) char *chain = NULL;

	if (!printer->lines_left)
		return;
	printer->lines_left--;
	while ((next = only_way_on(printer, last)))
		last = next;
	chain = diff_text_chain_of(printer, first, last, diff_text_name_columns(printer, taken));
	diff_text_put_change(printer, &printer->diff->stacks[last].change);
	diff_text_put_values(printer, &printer->diff->stacks[last].change);
	fprintf(printer->out, "%*s%s\n", (int)indent, "", chain);
	put_children(printer, last, indent < MOST_INDENT ? indent + 2 : indent);
}

static int diff_text_by_change(const void *a, const void *b, void *context)
{
	const struct diff_stack *stacks = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_change = fabs(diff_change_of(&stacks[left].change));
	double right_change = fabs(diff_change_of(&stacks[right].change));

	if (left_change != right_change)
		return left_change < right_change ? 1 : -1;
	return (left > right) - (left < right);
}

/* Prints the largest changes first. */
static void put_children(struct diff_text_printer *printer, uint32_t stack, unsigned indent)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	CLEANUP(free_ptr) uint32_t *children = NULL;
	size_t count = 0, room = 0;

	for (uint32_t i = stacks[stack].first_child; i; i = stacks[i].next_sibling) {
		if (!diff_text_is_shown(printer, i))
			continue;
		GROW(children, count, room);
		children[count++] = i;
	}
	if (count)
		qsort_r(children, count, sizeof(*children), diff_text_by_change,
			printer->diff->stacks);
	for (size_t i = 0; i < count; i++)
		put_node(printer, children[i], indent);
}

static void diff_text_put_tree(struct diff_text_printer *printer)
{
	const struct diff_stack *stacks = printer->diff->stacks;

	for (uint32_t i = stacks[DIFF_TOP].first_child; i; i = stacks[i].next_sibling) {
		if (!diff_text_is_shown(printer, i))
			continue;
		fputs("\n   total change    old    new   where it is called\n", printer->out);
		put_children(printer, DIFF_TOP, 0);
		return;
	}
}

char *diff_unjudged_words(double noise, const char *how)
{
	return xasprintf(
		" if two runs of one program vary by %.3g %% (--noise), which is a guess.\n"
		"Recordings show how much runs vary if each side has at least two, better "
		"five: %s",
		noise * 100, how);
}

char *diff_shares_words(const char *harness)
{
	return xasprintf("\nshares are compared: %s runs for a fixed time, however slow a "
			 "function is",
			 harness);
}

char *diff_uncertainty(const struct diff_report *report)
{
	bool is_judged = report->diff->verdict != DIFF_UNJUDGED;
	CLEANUP(free_ptr)
	char *noise = is_judged ? xasprintf("; most functions vary by %.1f %% between recordings "
					    "of a side",
					    diff_percent(report->diff->overdispersion))
				: diff_unjudged_words(report->options->noise,
						      "prof diff OLD OLD2 -- NEW NEW2");
	CLEANUP(free_ptr)
	char *harness = report->harness ? diff_shares_words(report->harness) : xstrdup("");

	return xasprintf("%g %% confidence%s%s%s", report->options->confidence * 100, noise,
			 report->is_guess ? "\nnot all files count their samples: their number is "
					    "estimated"
					  : "",
			 harness);
}

void diff_print(const struct diff_report *report, const struct pager *pager)
{
	CLEANUP(free_ptr) char *event = printable(report->event);
	CLEANUP(free_ptr) char *quantity = printable(report->quantity);
	CLEANUP(free_ptr) char *label = report->label ? printable(report->label) : NULL;
	CLEANUP(free_ptr) char *uncertainty = NULL;
	struct diff_report shown = *report;
	struct diff_text_printer printer = {
		.report = &shown,
		.diff = report->diff,
		.pager = pager,
		.out = pager->out,
		.lines_left = report->rows,
	};

	shown.event = event;
	shown.quantity = quantity;
	shown.label = label;
	diff_text_put_sides(&printer);
	put_verdict(&printer);
	if (report->diff->verdict == DIFF_NOTHING)
		return;
	diff_text_put_table(&printer);
	if (!report->label)
		diff_text_put_tree(&printer);
	uncertainty = diff_uncertainty(&shown);
	fprintf(printer.out, "\n%s\n", uncertainty);
}
