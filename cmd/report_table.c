#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/bar.h"
#include "cmd/figure.h"
#include "cmd/report.h"
#include "report/words.h"

#include <inttypes.h>
#include <string.h>

enum {
	DEFAULT_ROWS = 20,
	WIDE = 100,	 /* columns, from where on there is room for a longer bar … */
	VERY_WIDE = 140, /* … and for where functions are */
};

/* Columns of the table, and how long its bars are. */
struct table {
	const struct report *report;
	const struct pen *pen;
	size_t rows;
	size_t bar, name, module, place; /* columns */
	uint64_t longest_bar;		 /* weight */
};

static const char *text_of(const struct table *table, string_id id)
{
	return profile_string(table->report->profile, id);
}

static size_t at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

static enum top_key key_of(const struct table *table)
{
	return table->report->options->by.key;
}

static const char *second_heading_of(enum top_key key)
{
	return key == TOP_FUNCTION ? "module"
	       : key == TOP_LINE   ? "function"
	       : key == TOP_THREAD ? "process"
				   : "";
}

/* "src/parse.c:12", "" when unknown; to be freed. */
static char *place_of_label(const struct table *table, uint32_t id)
{
	const struct label *label = &table->report->view.labels.items[id];

	if (!label->file)
		return xstrdup("");
	if (!label->start_line)
		return xstrdup(text_of(table, label->file));
	return xasprintf("%s:%" PRIu32, text_of(table, label->file), label->start_line);
}

/* What a row is called, and what stands behind it; both to be freed. */
struct row_text {
	char *name, *module, *place;
};

static void row_text_deinit(struct row_text *text)
{
	free(text->name);
	free(text->module);
	free(text->place);
}

static struct row_text text_of_row(const struct table *table, const struct top_row *row)
{
	struct row_text text = {.name = words_of_row(&table->report->view, key_of(table), row)};

	switch (key_of(table)) {
	case TOP_PROCESS:
	case TOP_MODULE:
	case TOP_FILE:
		text.module = xstrdup("");
		break;
	case TOP_THREAD:
		text.module = xstrdup(text_of(
			table, profile_get_thread(table->report->profile, row->thread)->process));
		break;
	case TOP_LINE:
		text.module = xstrdup(row->file ? row->name
						: pen_module_name(table->pen, row->module));
		break;
	case TOP_FUNCTION:
		text.module = xstrdup(pen_module_name(table->pen, row->module));
		text.place = place_of_label(table, row->label);
		break;
	}
	if (!text.place)
		text.place = xstrdup("");
	return text;
}

static uint64_t bar_weight(const struct table *table, const struct top_row *row)
{
	return table->report->options->by.order == TOP_BY_TOTAL ? row->total.weight
								: row->self.weight;
}

static bool is_asked_for(const struct table *table, const struct top_row *row)
{
	return !table->report->chosen || table->report->chosen[row->label];
}

/* Rows that matter, whatever they are sorted by. */
static bool is_shown(const struct table *table, const struct top_row *row)
{
	const struct report *report = table->report;
	uint64_t weight = report->options->by.order == TOP_BY_SELF ? row->self.weight
								   : row->total.weight;

	if (report->chosen)
		return row->total.weight >= report->min_tree_weight;
	return weight && weight >= report->min_weight;
}

/* Left of the names: shares, bar, samples. */
static size_t left_columns(const struct table *table)
{
	return 2 * SHARE_COLUMNS + 1 +
	       (table->report->options->shows_samples ? SAMPLES_COLUMNS : 0) + 1 + table->bar + 1;
}

static void widen(size_t *columns, const char *text)
{
	size_t wanted = printable_columns(text);

	if (wanted > *columns)
		*columns = wanted;
}

static void find_layout(struct table *table)
{
	const struct top *top = &table->report->top;
	size_t columns = table->pen->screen->columns, limit = table->report->options->limit, room;

	table->bar = columns < WIDE ? 6 : 10;
	table->name = strlen(words_of_key(key_of(table)));

	for (size_t i = 0; i < top->count; i++) {
		CLEANUP(row_text_deinit) struct row_text text = {0};

		if (table->rows >= (limit ? limit : DEFAULT_ROWS))
			break;
		if (!is_asked_for(table, &top->rows[i]) || !is_shown(table, &top->rows[i]))
			continue;
		text = text_of_row(table, &top->rows[i]);
		table->rows++;
		widen(&table->name, text.name);
		widen(&table->module, text.module);
		widen(&table->place, text.place);
		if (bar_weight(table, &top->rows[i]) > table->longest_bar)
			table->longest_bar = bar_weight(table, &top->rows[i]);
	}
	table->module = at_most(table->module, columns / 5);
	table->place = columns < VERY_WIDE ? 0 : at_most(table->place, columns / 4);
	room = columns - left_columns(table) - (table->module ? table->module + 2 : 0) -
	       (table->place ? table->place + 2 : 0);
	table->name = at_most(table->name, room);
}

static void put_table_head(const struct table *table)
{
	enum top_key key = key_of(table);
	bool has_place = table->place;

	fprintf(table->pen->out, "\n%s%*s %*s", screen_style(table->pen->screen, STYLE_HEADING),
		SHARE_COLUMNS, "self", SHARE_COLUMNS, "total");
	if (table->report->options->shows_samples)
		fprintf(table->pen->out, "%*s", SAMPLES_COLUMNS, "samples");
	fprintf(table->pen->out, " %*s %s", (int)table->bar, "", words_of_key(key));
	if (table->module) {
		pen_padding(table->pen, strlen(words_of_key(key)), table->name + 2);
		fputs(second_heading_of(key), table->pen->out);
	}
	if (has_place) {
		pen_padding(table->pen, strlen(second_heading_of(key)), table->module + 2);
		fputs("where it is", table->pen->out);
	}
	fprintf(table->pen->out, "%s\n", screen_style(table->pen->screen, STYLE_PLAIN));
}

static void put_row(const struct table *table, const struct top_row *row)
{
	CLEANUP(row_text_deinit) struct row_text text = text_of_row(table, row);
	CLEANUP(free_ptr) char *name = pen_name(text.name, table->name);
	CLEANUP(free_ptr) char *module = pen_name(text.module, table->module);
	CLEANUP(free_ptr) char *place = pen_name(text.place, table->place);
	CLEANUP(free_ptr)
	char *shown_bar = bar(bar_weight(table, row), table->longest_bar, table->bar);

	pen_share(table->pen, row->self.weight);
	fputc(' ', table->pen->out);
	pen_share(table->pen, row->total.weight);
	if (table->report->options->shows_samples)
		fprintf(table->pen->out, "%*s", SAMPLES_COLUMNS,
			figure_count(table->report->options->by.order == TOP_BY_TOTAL
					     ? row->total.samples
					     : row->self.samples)
				.text);
	fputc(' ', table->pen->out);
	fputs(shown_bar, table->pen->out);
	fputc(' ', table->pen->out);
	pen_styled(table->pen,
		   row->label == TOP_NO_LABEL ? STYLE_PLAIN
					      : pen_style_of_label(table->pen, row->label),
		   name);
	if (*module || *place) {
		pen_padding(table->pen, printable_columns(name), table->name + 2);
		pen_styled(table->pen, STYLE_FAINT, module);
	}
	if (*place && table->place) {
		pen_padding(table->pen, printable_columns(module), table->module + 2);
		pen_styled(table->pen, STYLE_FAINT, place);
	}
	fputc('\n', table->pen->out);
}

static void put_rest(const struct table *table, size_t hidden, uint64_t hidden_weight)
{
	const char *what = words_of_key(key_of(table));
	bool ends_in_s = what[strlen(what) - 1] == 's';

	if (hidden)
		fprintf(table->pen->out, "%s%*s%*s and %s more %s%s%s\n",
			screen_style(table->pen->screen, STYLE_FAINT), SHARE_COLUMNS,
			figure_share(hidden_weight, table->report->view.stacks[STACK_EMPTY].total.weight)
				.text,
			(int)(left_columns(table) - SHARE_COLUMNS - 1), "",
			figure_count(hidden).text, what,
			hidden == 1 ? ""
			: ends_in_s ? "es"
				    : "s",
			screen_style(table->pen->screen, STYLE_PLAIN));
}

void report_table(const struct report *report, const struct pen *pen)
{
	struct table columns = {.report = report, .pen = pen}, *table = &columns;
	const struct top *top = &report->top;
	size_t shown = 0, hidden = 0;
	uint64_t hidden_weight = 0;

	find_layout(table);
	if (!table->rows)
		return;
	put_table_head(table);
	for (size_t i = 0; i < top->count; i++) {
		if (!is_asked_for(table, &top->rows[i]))
			continue;
		if (shown < table->rows && is_shown(table, &top->rows[i])) {
			put_row(table, &top->rows[i]);
			shown++;
		} else if (top->rows[i].self.weight) {
			hidden_weight += top->rows[i].self.weight;
			hidden++;
		}
	}
	put_rest(table, hidden, hidden_weight);
}
