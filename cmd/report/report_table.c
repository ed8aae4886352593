#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/report/report.h"
#include "cmd/ui/bar.h"
#include "report/row_table.h"

#include <string.h>

enum {
	REPORT_TABLE_DEFAULT_ROWS = 20,
	BLOCKED_COLUMNS = 9, /* "123.45 ms" */
	POLLS_COLUMNS = 8,
	BYTES_COLUMNS = 9, /* "123.45 MB" */
	OBJECTS_COLUMNS = 10,
	IPC_COLUMNS = 6,
	ELAPSED_COLUMNS = 9,	 /* " 12.3 %" under "elapsed" */
	AGES_COLUMNS = 20,	 /* "100 ms to 1,000 s" */
	REPORT_TABLE_WIDE = 100, /* screens of this width have longer bars */
	VERY_WIDE = 140,	 /* screens of this width also show places */
};

struct report_table {
	const struct report *report;
	const struct table_writer *writer;
	struct row_table rows;
	size_t bar, name, detail, place; /* widths */
	bool has_polls, has_blocked;	 /* of a shown task */
};

static size_t report_table_at_most(size_t value, size_t most)
{
	return value < most ? value : most;
}

/* Returns the width of the columns left of the names: shares, bar, samples. */
static size_t left_columns(const struct report_table *table)
{
	return (table->report->options->leaks ? BYTES_COLUMNS + OBJECTS_COLUMNS + SHARE_COLUMNS + 1
					      : 2 * SHARE_COLUMNS + 1) +
	       (table->report->leaks.has_ages ? AGES_COLUMNS : 0) +
	       (table->report->ipc.other.is_known ? IPC_COLUMNS : 0) +
	       (table->report->elapsed.is_known ? ELAPSED_COLUMNS : 0) +
	       (table->report->options->shows_samples ? SAMPLES_COLUMNS : 0) +
	       (table->has_polls ? POLLS_COLUMNS : 0) + (table->has_blocked ? BLOCKED_COLUMNS : 0) +
	       1 + table->bar + 1;
}

static void find_layout(struct report_table *table)
{
	size_t columns = table->writer->pager->columns, room, name, heading;

	table->bar = columns < REPORT_TABLE_WIDE ? 6 : 10;
	/* "[mutex held by worker-3 in holds_lock]" is longer than the name of a module. */
	table->detail = report_table_at_most(row_table_columns(&table->rows, ROW_DETAIL),
					     columns / (table->report->view.is_waiting ? 3 : 5));
	if (columns >= VERY_WIDE)
		table->place = report_table_at_most(row_table_columns(&table->rows, ROW_PLACE),
						    columns / 4);
	room = columns - left_columns(table) - (table->detail ? table->detail + 2 : 0) -
	       (table->place ? table->place + 2 : 0);
	name = row_table_columns(&table->rows, ROW_NAME);
	heading = printable_columns(row_table_heading(&table->rows, ROW_NAME));
	table->name = report_table_at_most(name > heading ? name : heading, room);
}

static void report_table_put_heading(const struct report_table *table)
{
	const struct table_writer *writer = table->writer;
	CLEANUP(free_ptr) char *name = printable(row_table_heading(&table->rows, ROW_NAME));
	const char *detail = row_table_heading(&table->rows, ROW_DETAIL);

	fprintf(writer->out, "\n%s", pager_sequence(writer->pager, STYLE_HEADING));
	if (table->report->options->leaks)
		fprintf(writer->out, "%*s%*s %*s", BYTES_COLUMNS, "in use", OBJECTS_COLUMNS,
			"objects", SHARE_COLUMNS, "share");
	else
		fprintf(writer->out, "%*s %*s", SHARE_COLUMNS, "self", SHARE_COLUMNS, "total");
	if (table->report->leaks.has_ages)
		fprintf(writer->out, "%*s", AGES_COLUMNS, "age");
	if (table->report->ipc.other.is_known)
		fprintf(writer->out, "%*s", IPC_COLUMNS, "IPC");
	if (table->report->elapsed.is_known)
		fprintf(writer->out, "%*s", ELAPSED_COLUMNS, "elapsed");
	if (table->report->options->shows_samples)
		fprintf(writer->out, "%*s", SAMPLES_COLUMNS, "samples");
	if (table->has_polls)
		fprintf(writer->out, "%*s", POLLS_COLUMNS, "polls");
	if (table->has_blocked)
		fprintf(writer->out, "%*s", BLOCKED_COLUMNS, "blocked");
	fprintf(writer->out, " %*s %s", (int)table->bar, "", name);
	if (table->detail) {
		table_padding(writer, printable_columns(name), table->name + 2);
		fputs(detail, writer->out);
	}
	if (table->place) {
		table_padding(writer, strlen(detail), table->detail + 2);
		fputs(row_table_heading(&table->rows, ROW_PLACE), writer->out);
	}
	fprintf(writer->out, "%s\n", pager_sequence(writer->pager, STYLE_PLAIN));
}

/* The text of a cell, shortened to its column; the caller frees it. */
static char *report_table_cell_of(const struct report_table *table, const struct row *row,
				  enum row_cell cell, size_t columns)
{
	CLEANUP(free_ptr) char *text = row_table_cell(&table->rows, row, cell);

	return table_name(text, columns);
}

static void report_table_put_names(const struct report_table *table, const struct row *row)
{
	const struct table_writer *writer = table->writer;
	CLEANUP(free_ptr) char *name = report_table_cell_of(table, row, ROW_NAME, table->name);
	CLEANUP(free_ptr)
	char *detail = report_table_cell_of(table, row, ROW_DETAIL, table->detail);
	CLEANUP(free_ptr) char *place = report_table_cell_of(table, row, ROW_PLACE, table->place);
	enum style style = row->label == ROW_NO_LABEL ? STYLE_PLAIN
						      : table_style_of_label(writer, row->label);

	table_styled(writer, style, name);
	if (*detail || *place) {
		table_padding(writer, printable_columns(name), table->name + 2);
		table_styled(writer, STYLE_FAINT, detail);
	}
	if (*place && table->place) {
		table_padding(writer, printable_columns(detail), table->detail + 2);
		table_styled(writer, STYLE_FAINT, place);
	}
}

static void report_table_put_polls(const struct report_table *table, const struct row *row)
{
	uint64_t polls = report_polls(table->report, row->name);

	fprintf(table->writer->out, "%*s", POLLS_COLUMNS, polls ? humanize_count(polls).text : "");
}

static void report_table_put_blocked(const struct report_table *table, const struct row *row)
{
	const struct blocked_task *task = blocked_tasks_find(&table->report->blocked, row->name);

	fprintf(table->writer->out, "%*s", BLOCKED_COLUMNS,
		task ? humanize_time(task->blocked_ns).text : "");
}

static void report_table_put_shares(const struct report_table *table, const struct row *row)
{
	table_share(table->writer, row->self.weight);
	fputc(' ', table->writer->out);
	table_share(table->writer, row->total.weight);
}

static void put_in_use(const struct report_table *table, const struct row *row)
{
	const struct report *report = table->report;
	FILE *out = table->writer->out;
	uint64_t objects = leaks_objects(&report->leaks, row);

	fprintf(out, "%*s%*s ", BYTES_COLUMNS,
		profile_humanize_weight(report->profile, report->view.event, row->self.weight).text,
		OBJECTS_COLUMNS, objects ? humanize_count(objects).text : "");
	table_share(table->writer, row->self.weight);
}

static void report_table_put_ages(const struct report_table *table, const struct row *row)
{
	CLEANUP(free_ptr) char *ages = leaks_ages(&table->report->leaks, row);

	table_padding(table->writer, printable_columns(ages), AGES_COLUMNS);
	fputs(ages, table->writer->out);
}

static void report_table_put_ipc(const struct report_table *table, const struct row *row)
{
	double ipc;

	if (ipc_of_row(&table->report->ipc, row, &ipc))
		fprintf(table->writer->out, "%*.2f", IPC_COLUMNS, ipc);
	else
		fprintf(table->writer->out, "%*s", IPC_COLUMNS, "-");
}

/* The share of all elapsed time, also that of waits. */
static void report_table_put_elapsed(const struct report_table *table, const struct row *row)
{
	const struct event_rows *elapsed = &table->report->elapsed;
	const struct row *of = event_rows_find(elapsed, row);

	fprintf(table->writer->out, "%*s", ELAPSED_COLUMNS,
		humanize_share(of ? of->self.weight : 0, elapsed->rows.all.weight).text);
}

static void report_table_put_row(const struct report_table *table, const struct row *row)
{
	const struct table_writer *writer = table->writer;
	struct sum drawn = row_table_bar(&table->rows, row);
	CLEANUP(free_ptr) char *shown_bar = bar(drawn.weight, table->rows.longest_bar, table->bar);

	if (table->report->options->leaks)
		put_in_use(table, row);
	else
		report_table_put_shares(table, row);
	if (table->report->leaks.has_ages)
		report_table_put_ages(table, row);
	if (table->report->ipc.other.is_known)
		report_table_put_ipc(table, row);
	if (table->report->elapsed.is_known)
		report_table_put_elapsed(table, row);
	if (table->report->options->shows_samples)
		fprintf(writer->out, "%*s", SAMPLES_COLUMNS, humanize_count(drawn.samples).text);
	if (table->has_polls)
		report_table_put_polls(table, row);
	if (table->has_blocked)
		report_table_put_blocked(table, row);
	fprintf(writer->out, " %s ", shown_bar);
	report_table_put_names(table, row);
	fputc('\n', writer->out);
}

static void put_hidden(const struct report_table *table)
{
	const struct table_writer *writer = table->writer;
	uint64_t all = table->report->view.stacks[STACK_EMPTY].total.weight;
	const char *what = table->report->by.key == ROW_LABEL ? "value"
							      : row_by_name(&table->report->by);
	bool ends_in_s = what[strlen(what) - 1] == 's';

	if (!table->rows.hidden_count)
		return;
	fprintf(writer->out, "%s%*s%*s and %s more %s%s%s\n",
		pager_sequence(writer->pager, STYLE_FAINT), SHARE_COLUMNS,
		humanize_share(table->rows.hidden_weight, all).text,
		(int)(left_columns(table) - SHARE_COLUMNS - 1), "",
		humanize_count(table->rows.hidden_count).text, what,
		table->rows.hidden_count == 1 ? ""
		: ends_in_s		      ? "es"
					      : "s",
		pager_sequence(writer->pager, STYLE_PLAIN));
}

/* Selects the rows; their order does not matter here. */
static struct row_table_options rows_to_show(const struct report *report)
{
	const struct report_options *options = report->options;
	uint64_t least = report->min_weight ? report->min_weight : 1;
	struct row_table_options rows = {
		.by = report->by,
		.order = options->by.order,
		.functions = report->chosen,
		.limit = options->limit			? options->limit
			 : row_by_is_class(&report->by) ? 0
							: REPORT_TABLE_DEFAULT_ROWS,
	};

	if (report->chosen)
		rows.least_total = report->min_tree_weight;
	else if (options->by.order == ROWS_BY_SELF)
		rows.least_self = least;
	else
		rows.least_total = least;
	return rows;
}

/* A column without a value is omitted. */
static void find_columns_of_tasks(struct report_table *table)
{
	const struct report *report = table->report;

	for (size_t i = 0; i < table->rows.count; i++) {
		const char *name = row_table_row(&table->rows, i)->name;

		table->has_polls |= report->has_polls && report_polls(report, name);
		table->has_blocked |= report->has_waiting &&
				      blocked_tasks_find(&report->blocked, name);
	}
}

void report_table(const struct report *report, const struct table_writer *writer)
{
	struct report_table table = {.report = report, .writer = writer};
	struct row_table_options options = rows_to_show(report);

	row_table_init(&table.rows, &report->view, &report->rows, &options);
	if (table.rows.count) {
		find_columns_of_tasks(&table);
		find_layout(&table);
		report_table_put_heading(&table);
		for (size_t i = 0; i < table.rows.count; i++)
			report_table_put_row(&table, row_table_row(&table.rows, i));
		put_hidden(&table);
	}
	row_table_deinit(&table.rows);
}

void report_blocked_tasks(const struct report *report, const struct table_writer *writer)
{
	bool is_first = true;

	for (size_t i = 0; i < report->blocked.count; i++) {
		const char *text = report->blocked.items[i].text;
		CLEANUP(free_ptr) char *line = text ? printable(text) : NULL;

		if (!line)
			continue;
		fprintf(writer->out, "%s%s\n", is_first ? "\n" : "", line);
		is_first = false;
	}
}
