#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/diff_report.h"
#include "cmd/figure.h"
#include "report/shorten.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	CHANGE_COLUMNS = 16, /* "▲ +12.3 ±1.2   " */
	VALUES_COLUMNS = 15, /* "  12.3    23.4 " */
	WIDE_COLUMNS = 100,  /* room for the values of totals */
	LEAST_NAME_COLUMNS = 20,
	ACCOUNTED = 3, /* functions in the verdict */
	ACCOUNTED_COLUMNS = 40,
	MOST_INDENT = 20,
};

/* A stack whose change is less than that share of the whole is not shown. */
#define LEAST_CHANGE 0.002
/* A caller whose change is that of one callee, but for so much of it, shares a line with it. */
#define CHAIN_TOLERANCE 0.1

struct printer {
	const struct diff_report *report;
	const struct diff *diff;
	const struct screen *screen;
	FILE *out;
	uint64_t lines_left; /* of the tree */
};

static double change_of(const struct change *change)
{
	return change->after - change->before;
}

const char *diff_verdict_word(const struct diff_report *report)
{
	switch (report->diff->verdict) {
	case DIFF_SLOWER:
		return report->counts_ns ? "slower" : "more";
	case DIFF_FASTER:
		return report->counts_ns ? "faster" : "less";
	case DIFF_CHANGED:
		return "changed";
	case DIFF_SAME:
		return "no significant change";
	case DIFF_NOTHING:
		break;
	}
	return "no samples";
}

/* To be freed. */
static char *name_of(const struct printer *printer, uint32_t label, size_t columns)
{
	CLEANUP(free_ptr) char *name = printable(printer->diff->labels.items[label].name);

	return shorten(name, columns);
}

/* "12.3 %"; -0.0 is nothing. */
static double percent(double share)
{
	double value = round(share * 1000) / 10;

	return value == 0 ? 0 : value;
}

static void put_weight(const struct printer *printer, double weight)
{
	uint64_t rounded = (uint64_t)llround(weight);

	fprintf(printer->out, "%12s",
		printer->report->counts_ns ? figure_time(rounded).text
					   : figure_count(rounded).text);
}

static void put_side(const struct printer *printer, const char *title,
		     const struct option_list *files, uint32_t first, double weight)
{
	CLEANUP(free_ptr) char *path = printable(files->items[0]);
	double samples = 0;

	for (size_t i = 0; i < files->count; i++)
		samples += printer->diff->wholes[first + i].samples;
	fputs(title, printer->out);
	put_weight(printer, weight);
	fprintf(printer->out, "%s  %s samples  %s",
		printer->report->options->kind == COMPARE_WEIGHTS ? " a recording" : "",
		figure_count((uint64_t)llround(samples)).text, path);
	if (files->count > 1)
		fprintf(printer->out, " and %zu more", files->count - 1);
	fputc('\n', printer->out);
}

static void put_sides(const struct printer *printer)
{
	const struct diff_report *report = printer->report;

	fprintf(printer->out, "compared: %s%s (event %s)\n",
		report->options->kind == COMPARE_WEIGHTS ? "" : "shares of ", report->quantity,
		report->event);
	put_side(printer, "old", report->old, 0, printer->diff->old_weight);
	put_side(printer, "new", report->new, (uint32_t)report->old->count,
		 printer->diff->new_weight);
}

/* The functions that the change is mostly made of: "parse +11.0 points, copy -2.1 points". */
static void put_functions(const struct printer *printer)
{
	const struct diff *diff = printer->diff;
	uint32_t count = 0;

	for (; count < diff->count && diff->rows[count].self.is_significant; count++) {
		const struct diff_row *row = &diff->rows[count];
		CLEANUP(free_ptr) char *name = name_of(printer, row->label, ACCOUNTED_COLUMNS);

		if (count < ACCOUNTED)
			fprintf(printer->out, "%s%s %+.1f points", count ? ", " : "  ", name,
				percent(change_of(&row->self)));
	}
	if (count > ACCOUNTED)
		fprintf(printer->out, " and %u more", count - ACCOUNTED);
	if (count)
		fputc('\n', printer->out);
}

/* "+12.3 % ± 2.1 % CPU time"; to be freed. */
static char *whole_words(const struct diff_report *report)
{
	const struct change *whole = &report->diff->whole;

	return xasprintf("%+.1f %% ± %.1f %% %s", percent(change_of(whole)), percent(whole->margin),
			 report->quantity);
}

char *diff_verdict_line(const struct diff_report *report)
{
	const struct diff *diff = report->diff;
	CLEANUP(free_ptr) char *whole = whole_words(report);
	bool of_shares = report->options->kind == COMPARE_SHARES;

	if (diff->verdict == DIFF_NOTHING)
		return xasprintf("nothing to compare: the %s side has no samples",
				 diff->old_weight > 0 ? "new" : "old");
	if (diff->verdict == DIFF_CHANGED && of_shares)
		return xstrdup("functions have changed");
	if (diff->verdict == DIFF_CHANGED)
		return xasprintf("functions have changed; the whole has not, as far as can be "
				 "seen: %s",
				 whole);
	if (of_shares)
		return xstrdup(diff_verdict_word(report));
	return xasprintf("%s: %s", diff_verdict_word(report), whole);
}

static void put_verdict(const struct printer *printer)
{
	static const enum screen_style styles[] = {[DIFF_SLOWER] = STYLE_HOT,
						   [DIFF_FASTER] = STYLE_COLD,
						   [DIFF_CHANGED] = STYLE_HEADING};
	CLEANUP(free_ptr) char *line = diff_verdict_line(printer->report);

	fprintf(printer->out, "\n%s%s%s\n",
		screen_style(printer->screen, styles[printer->diff->verdict]), line,
		screen_style(printer->screen, STYLE_PLAIN));
	put_functions(printer);
}

/* What is significant is marked by a sign and a colour, the rest is faint. */
static void put_change(const struct printer *printer, const struct change *change)
{
	double value = change_of(change);
	enum screen_style style = !change->is_significant ? STYLE_FAINT
				  : value > 0		  ? STYLE_HOT
							  : STYLE_COLD;

	fprintf(printer->out, "%s%s %+6.1f ±%-5.1f%s", screen_style(printer->screen, style),
		!change->is_significant ? " "
		: value > 0		? "▲"
					: "▼",
		percent(value), percent(change->margin),
		screen_style(printer->screen, STYLE_PLAIN));
}

static void put_values(const struct printer *printer, const struct change *change)
{
	fprintf(printer->out, "%6.1f %6.1f  ", percent(change->before), percent(change->after));
}

static bool is_wide(const struct printer *printer)
{
	return printer->screen->columns >= WIDE_COLUMNS;
}

static size_t name_columns(const struct printer *printer, size_t taken)
{
	return printer->screen->columns > taken + LEAST_NAME_COLUMNS
		       ? printer->screen->columns - taken
		       : LEAST_NAME_COLUMNS;
}

static void put_row(const struct printer *printer, const struct diff_row *row)
{
	size_t taken = 2 * CHANGE_COLUMNS + (is_wide(printer) ? 2 : 1) * VALUES_COLUMNS;
	CLEANUP(free_ptr) char *name = name_of(printer, row->label, name_columns(printer, taken));

	put_change(printer, &row->self);
	put_values(printer, &row->self);
	put_change(printer, &row->total);
	if (is_wide(printer))
		put_values(printer, &row->total);
	fprintf(printer->out, " %s\n", name);
}

/* main() and its callers: their total is the whole. */
static bool is_of_all(const struct printer *printer, const struct diff_row *row)
{
	const struct change *whole = &printer->diff->whole;

	return fabs(row->total.before - whole->before) < 0.001 &&
	       fabs(row->total.after - whole->after) < 0.001;
}

static bool is_worth_a_row(const struct printer *printer, const struct diff_row *row)
{
	return row->self.is_significant || fabs(change_of(&row->self)) >= DIFF_LEAST_CHANGE ||
	       (row->total.is_significant && !is_of_all(printer, row));
}

static void put_table(const struct printer *printer)
{
	bool of_old = printer->report->options->kind == COMPARE_WEIGHTS;
	uint64_t shown = 0;

	for (uint32_t i = 0; i < printer->diff->count; i++) {
		if (!is_worth_a_row(printer, &printer->diff->rows[i]))
			continue;
		if (!shown)
			fprintf(printer->out,
				"\n%% of %s%s\n    self change    old    new      total change%s  "
				"function\n",
				of_old ? "old's " : "each side's ", printer->report->quantity,
				is_wide(printer) ? "   old    new  " : "");
		if (shown++ == printer->report->rows)
			break;
		put_row(printer, &printer->diff->rows[i]);
	}
}

static bool is_shown(const struct printer *printer, uint32_t stack)
{
	const struct change *change = &printer->diff->stacks[stack].change;

	return change->is_significant && fabs(change_of(change)) >= LEAST_CHANGE;
}

/* The only callee that is shown, where it changes as its caller does; 0: there is none such. */
static uint32_t only_way_on(const struct printer *printer, uint32_t stack)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	double change = change_of(&stacks[stack].change);
	uint32_t only = 0;

	for (uint32_t i = stacks[stack].first_child; i; i = stacks[i].next_sibling) {
		if (!is_shown(printer, i))
			continue;
		if (only)
			return 0;
		only = i;
	}
	if (only && fabs(change_of(&stacks[only].change) - change) > fabs(change) * CHAIN_TOLERANCE)
		return 0;
	return only;
}

/* "main › run › parse", up to `last`; the first ones give way. To be freed. */
static char *chain_of(const struct printer *printer, uint32_t first, uint32_t last, size_t columns)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	char *chain = name_of(printer, stacks[last].label, columns);
	size_t used = strlen(chain);

	while (last != first) {
		CLEANUP(free_ptr) char *rest = chain;
		CLEANUP(free_ptr) char *name = NULL;

		last = stacks[last].parent;
		name = name_of(printer, stacks[last].label, columns);
		used += strlen(name) + strlen(" > ");
		if (used + strlen("... > ") > columns)
			return xasprintf("… › %s", rest);
		chain = xasprintf("%s › %s", name, rest);
	}
	return chain;
}

static void put_children(struct printer *printer, uint32_t stack, unsigned indent);

static void put_node(struct printer *printer, uint32_t first, unsigned indent)
{
	size_t taken = CHANGE_COLUMNS + VALUES_COLUMNS + indent;
	uint32_t last = first, next;
	CLEANUP(free_ptr) char *chain = NULL;

	if (!printer->lines_left)
		return;
	printer->lines_left--;
	while ((next = only_way_on(printer, last)))
		last = next;
	chain = chain_of(printer, first, last, name_columns(printer, taken));
	put_change(printer, &printer->diff->stacks[last].change);
	put_values(printer, &printer->diff->stacks[last].change);
	fprintf(printer->out, "%*s%s\n", (int)indent, "", chain);
	put_children(printer, last, indent < MOST_INDENT ? indent + 2 : indent);
}

static int by_change(const void *a, const void *b, void *context)
{
	const struct diff_stack *stacks = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	double left_change = fabs(change_of(&stacks[left].change));
	double right_change = fabs(change_of(&stacks[right].change));

	if (left_change != right_change)
		return left_change < right_change ? 1 : -1;
	return (left > right) - (left < right);
}

/* The largest changes first. */
static void put_children(struct printer *printer, uint32_t stack, unsigned indent)
{
	const struct diff_stack *stacks = printer->diff->stacks;
	CLEANUP(free_ptr) uint32_t *children = NULL;
	size_t count = 0, room = 0;

	for (uint32_t i = stacks[stack].first_child; i; i = stacks[i].next_sibling) {
		if (!is_shown(printer, i))
			continue;
		GROW(children, count, room);
		children[count++] = i;
	}
	if (count)
		qsort_r(children, count, sizeof(*children), by_change, printer->diff->stacks);
	for (size_t i = 0; i < count; i++)
		put_node(printer, children[i], indent);
}

static void put_tree(struct printer *printer)
{
	const struct diff_stack *stacks = printer->diff->stacks;

	for (uint32_t i = stacks[DIFF_TOP].first_child; i; i = stacks[i].next_sibling) {
		if (!is_shown(printer, i))
			continue;
		fputs("\n   total change    old    new   where it is called\n", printer->out);
		put_children(printer, DIFF_TOP, 0);
		return;
	}
}

/* What the verdict stands on. */
static void put_footing(const struct printer *printer)
{
	const struct diff_report *report = printer->report;
	bool has_several = report->old->count + report->new->count > 2;

	fprintf(printer->out, "\n%g %% confidence", report->options->confidence * 100);
	if (has_several)
		fprintf(printer->out,
			"; between recordings of a side most functions vary by %.1f %%",
			percent(printer->diff->spread));
	else
		fprintf(printer->out,
			"; two runs of one program are taken to vary by %.3g %% (--noise).\n"
			"Several recordings a side would tell: prof diff OLD OLD2 -- NEW NEW2",
			report->options->noise * 100);
	if (report->is_guess)
		fputs("\nnot all files count their samples: how many there are is estimated",
		      printer->out);
	fputc('\n', printer->out);
}

void diff_print(const struct diff_report *report, const struct screen *screen)
{
	struct printer printer = {
		.report = report,
		.diff = report->diff,
		.screen = screen,
		.out = screen->out,
		.lines_left = report->rows,
	};

	put_sides(&printer);
	put_verdict(&printer);
	if (report->diff->verdict == DIFF_NOTHING)
		return;
	put_table(&printer);
	put_tree(&printer);
	put_footing(&printer);
}
