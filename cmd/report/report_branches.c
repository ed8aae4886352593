#include "cmd/report/report_branches.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "profile/cpu_records.h"

#include <inttypes.h>
#include <string.h>

enum { TAKEN_COLUMNS = 11, MISPREDICTED_COLUMNS = 13, CYCLES_COLUMNS = 8, SHARE_DIGITS = 4 };

struct error *report_branches_check(const struct profile *profile, const char *path)
{
	event_id event;

	if (cpu_record_find(profile, CPU_BRANCHES, &event))
		return NULL;
	return error_hint(error_new("%s has no taken branches", path),
			  "prof record -b COMMAND records them, on a CPU that has registers for "
			  "them");
}

static size_t report_branches_count_shown(const struct branch_rows *rows,
					  struct branches_shown shown)
{
	size_t count = 0;

	while (count < rows->count && count < shown.limit &&
	       rows->items[count].counts.taken >= shown.least_taken)
		count++;
	return count;
}

/* Returns "half (shares.c:14)". The caller frees it. */
static char *report_branches_text_of(const struct view *view, struct branch_place place)
{
	const struct label *label = &view->labels.items[place.label];
	const char *file = profile_string(view->profile, label->file);

	return place.line && *file
		       ? xasprintf("%s (%s:%" PRIu32 ")", label->shown, basename(file), place.line)
		       : xstrdup(label->shown);
}

static void report_branches_put_counts(const struct branch_counts *counts,
				       const struct table_writer *writer)
{
	double share;

	fprintf(writer->out, "%*s", TAKEN_COLUMNS, humanize_count(counts->taken).text);
	if (branch_mispredicted(counts, &share))
		fprintf(writer->out, "%*.1f %%", MISPREDICTED_COLUMNS - 2, share * 100);
	else
		fprintf(writer->out, "%*s", MISPREDICTED_COLUMNS, "-");
	if (counts->cycles)
		fprintf(writer->out, "%*.1f", CYCLES_COLUMNS,
			(double)counts->cycles / (double)counts->taken);
	else
		fprintf(writer->out, "%*s", CYCLES_COLUMNS, "-");
}

/* Widths of both places. */
struct layout {
	size_t from, to;
};

static void report_branches_put_row(const struct branch_row *row, struct layout columns,
				    const struct table_writer *writer)
{
	CLEANUP(free_ptr) char *from = report_branches_text_of(writer->view, row->from);
	CLEANUP(free_ptr) char *to = report_branches_text_of(writer->view, row->to);
	CLEANUP(free_ptr) char *shown_from = table_name(from, columns.from);
	CLEANUP(free_ptr) char *shown_to = table_name(to, columns.to);

	report_branches_put_counts(&row->counts, writer);
	fputs("  ", writer->out);
	table_styled(writer, table_style_of_label(writer, row->from.label), shown_from);
	table_padding(writer, printable_columns(shown_from), columns.from + 2);
	table_styled(writer, table_style_of_label(writer, row->to.label), shown_to);
	fputc('\n', writer->out);
}

static size_t longest_from(const struct branch_rows *rows, size_t count, const struct view *view)
{
	size_t longest = strlen("from");

	for (size_t i = 0; i < count; i++) {
		CLEANUP(free_ptr) char *from = report_branches_text_of(view, rows->items[i].from);
		size_t columns = printable_columns(from);

		longest = columns > longest ? columns : longest;
	}
	return longest;
}

static struct layout report_branches_layout_of(const struct branch_rows *rows, size_t count,
					       const struct table_writer *writer)
{
	size_t room = writer->pager->columns - TAKEN_COLUMNS - MISPREDICTED_COLUMNS -
		      CYCLES_COLUMNS - 4;
	size_t from = longest_from(rows, count, writer->view);

	if (from > room / 2)
		from = room / 2;
	return (struct layout){.from = from, .to = room - from};
}

void report_branches_text(const struct branch_rows *rows, struct branches_shown shown,
			  const struct table_writer *writer)
{
	size_t count = report_branches_count_shown(rows, shown);
	struct layout columns = report_branches_layout_of(rows, count, writer);

	fprintf(writer->out, "\n%s%*s%*s%*s  from%*sto%s\n",
		pager_sequence(writer->pager, STYLE_HEADING), TAKEN_COLUMNS, "taken",
		MISPREDICTED_COLUMNS, "mispredicted", CYCLES_COLUMNS, "cycles",
		(int)(columns.from + 2 - strlen("from")), "",
		pager_sequence(writer->pager, STYLE_PLAIN));
	for (size_t i = 0; i < count; i++)
		report_branches_put_row(&rows->items[i], columns, writer);
	report_branches_put_counts(&rows->all, writer);
	fprintf(writer->out, "  %sall %s pairs of places%s\n",
		pager_sequence(writer->pager, STYLE_FAINT), humanize_count(rows->count).text,
		pager_sequence(writer->pager, STYLE_PLAIN));
}

static void put_counts_json(struct json *json, const struct branch_counts *counts)
{
	double share;

	json_put_number(json, "taken", counts->taken);
	if (branch_mispredicted(counts, &share)) {
		json_put_number(json, "mispredicted", counts->mispredicted);
		json_put_real(json, "mispredicted_share", share, SHARE_DIGITS);
	}
	if (counts->cycles)
		json_put_number(json, "cycles", counts->cycles);
}

static void put_place_json(struct json *json, const char *key, struct branch_place place,
			   const struct view *view)
{
	const struct label *label = &view->labels.items[place.label];
	const struct profile *profile = view->profile;
	string_id module = profile_get_module(profile, label->module)->path;

	json_key(json, key);
	json_begin_object(json);
	json_put_text(json, "name", label->shown);
	json_put_known(json, "module", profile_string(profile, module));
	json_put_known(json, "file", profile_string(profile, label->file));
	if (place.line)
		json_put_number(json, "line", place.line);
	json_end_object(json);
}

void report_branches_json(const struct branch_rows *rows, struct branches_shown shown,
			  const struct view *view, struct json *json)
{
	size_t count = report_branches_count_shown(rows, shown);

	put_counts_json(json, &rows->all);
	json_key(json, "branches");
	json_begin_array(json);
	for (size_t i = 0; i < count; i++) {
		json_begin_object(json);
		put_place_json(json, "from", rows->items[i].from, view);
		put_place_json(json, "to", rows->items[i].to, view);
		put_counts_json(json, &rows->items[i].counts);
		json_end_object(json);
	}
	json_end_array(json);
}
