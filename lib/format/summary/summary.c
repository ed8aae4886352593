/*
 * Writes a summary in Markdown, for a colleague or an assistant: what was
 * recorded, how good it is, where the time goes by the user's own functions,
 * the hottest paths, waits, allocations, what is missing, and the commands that
 * look deeper. The headings are always the same. The text has at most
 * summary.lines lines.
 */
#include "format/format.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "base/shell_word.h"
#include "format/summary/markdown.h"
#include "profile/memory_events.h"
#include "report/memory_text.h"
#include "report/own_sums.h"
#include "report/quality_text.h"
#include "report/rows.h"
#include "report/runtime_use.h"
#include "report/shorten.h"
#include "report/stat_text.h"
#include "report/title.h"
#include "report/waiting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ROWS = 12, /* of a table */
	PATHS = 3,
	PATH_NAMES = 8, /* of a path */
	SUMMARY_NAME_COLUMNS = 80,
};

struct summary {
	FILE *out;
	const struct profile *profile;
	const struct format_options *options;
	unsigned rows; /* the maximum of a table */
	struct view view;
	struct own_sums own;
	struct rows functions;
};

static void summary_put_line(const struct summary *summary, const char *text)
{
	CLEANUP(free_ptr) char *line = markdown_text(text);

	fprintf(summary->out, "- %s\n", line);
}

/* Writes lines. NULL and "" are none. */
static void summary_put_lines(const struct summary *summary, char *lines)
{
	for (char *rest = lines, *line; rest && *rest && (line = strsep(&rest, "\n"));)
		summary_put_line(summary, line);
}

static void summary_put_name(const struct summary *summary, uint32_t label)
{
	CLEANUP(free_ptr)
	char *name = shorten(summary->view.labels.items[label].shown, SUMMARY_NAME_COLUMNS);
	CLEANUP(free_ptr) char *code = markdown_code(name);

	fputs(code, summary->out);
}

static const char *summary_share_of(struct humanized *text, uint64_t part, uint64_t whole)
{
	*text = humanize_share(part, whole);
	return text->text;
}

/* ---- What was recorded ---- */

static void summary_put_events(const struct summary *summary)
{
	for (event_id i = 0; i < profile_event_count(summary->profile); i++) {
		const struct profile_event *event = profile_get_event(summary->profile, i);
		struct sum sum = view_event_sum(summary->profile, i);
		const char *name = profile_string(summary->profile, event->name);
		struct humanized weight = profile_humanize_weight(summary->profile, i, sum.weight);
		CLEANUP(free_ptr)
		char *text = event->one_value
				     ? xasprintf("event %s: %s", name, weight.text)
				     : xasprintf("event %s: %s samples, %s", name,
						 humanize_count(sum.samples).text, weight.text);

		summary_put_line(summary, text);
	}
}

static void summary_put_recorded(const struct summary *summary)
{
	const struct profile_info *info = profile_get_info(summary->profile);
	CLEANUP(free_ptr) char *command = xasprintf("command: %s", info->command);
	CLEANUP(free_ptr) char *recorded = title_recorded(info, true);
	CLEANUP(free_ptr) char *time = xasprintf("time: %s", recorded);

	fputs("\n## What was recorded\n\n", summary->out);
	if (*info->command)
		summary_put_line(summary, command);
	if (*recorded)
		summary_put_line(summary, time);
	summary_put_events(summary);
}

/* ---- Quality ---- */

static void summary_put_quality(const struct summary *summary)
{
	const struct profile_info *info = profile_get_info(summary->profile);
	CLEANUP(free_ptr) char *quality = quality_headline(info);
	CLEANUP(free_ptr) char *stat = stat_line(info);
	struct waiting_quality sums;
	CLEANUP(free_ptr) char *waiting = NULL;

	fputs("\n## Quality\n\n", summary->out);
	summary_put_lines(summary, quality);
	if (waiting_sums(summary->profile, &sums))
		waiting = waiting_text(&sums);
	if (waiting && strcmp(waiting, quality) != 0)
		summary_put_line(summary, waiting);
	summary_put_lines(summary, stat);
	if (!*quality && !waiting && !stat)
		summary_put_line(summary, "unknown: the file does not contain it");
}

/* ---- Where the time goes ---- */

/* Returns "src/parse.c:41", "parse.c" or "". The caller frees it. */
static char *place_text(const struct summary *summary, const struct own_function *function)
{
	const struct label *label = &summary->view.labels.items[function->label];
	const char *file = profile_string(summary->profile, label->file);
	uint32_t line = function->line ? function->line : label->start_line;
	CLEANUP(free_ptr) char *shown = shorten(file, SUMMARY_NAME_COLUMNS);

	if (!*file)
		return xstrdup("");
	return line ? xasprintf("%s:%u", shown, line) : xstrdup(shown);
}

static void put_own_function(const struct summary *summary, const struct own_function *function)
{
	CLEANUP(free_ptr) char *place = place_text(summary, function);
	CLEANUP(free_ptr) char *code = *place ? markdown_code(place) : xstrdup("");
	struct humanized share;

	fprintf(summary->out, "| %s | %s | ",
		summary_share_of(&share, function->sum.weight, summary->own.all.weight),
		profile_humanize_weight(summary->profile, summary->view.event, function->sum.weight)
			.text);
	summary_put_name(summary, function->label);
	fprintf(summary->out, " | %s%s|\n", code, *code ? " " : "");
}

static void put_own_functions(const struct summary *summary)
{
	const struct own_sums *own = &summary->own;
	uint64_t rest = own->all.weight;
	uint32_t i = 0;

	fprintf(summary->out,
		"\n## Where it goes\n\n%s\n\n| share | weight | function | hottest line |\n"
		"|--:|--:|---|---|\n",
		own->is_of_all_code
			? "No function is known to be the program's own. Each sample counts for "
			  "its "
			  "innermost function."
			: "Each sample counts for the innermost of the program's own functions in "
			  "its stack.");
	for (; i < own->count && i < summary->rows; i++) {
		put_own_function(summary, &own->functions[i]);
		rest -= own->functions[i].sum.weight;
	}
	if (rest) {
		struct humanized share;

		fprintf(summary->out, "| %s | %s | %s | |\n",
			summary_share_of(&share, rest, own->all.weight),
			profile_humanize_weight(summary->profile, summary->view.event, rest).text,
			i < own->count ? "other functions, and samples without one of them"
				       : "samples without one of them");
	}
}

/* Any code: libraries, runtimes and the kernel, too. */
static void put_hottest(const struct summary *summary)
{
	fputs("\n## Hottest functions of any code, by self\n\n", summary->out);
	for (size_t i = 0, shown = 0;
	     i < summary->functions.count && shown < (summary->rows + 1) / 2; i++) {
		const struct row *row = &summary->functions.items[i];
		const char *module = display_module_name(summary->profile, row->module);
		CLEANUP(free_ptr) char *safe = markdown_text(module);
		struct humanized share;

		if (!row->self.weight ||
		    display_labels_is_unsampled(&summary->view.labels, row->label))
			continue;
		shown++;
		fprintf(summary->out, "- %s ",
			summary_share_of(&share, row->self.weight, summary->functions.all.weight));
		summary_put_name(summary, row->label);
		fprintf(summary->out, "%s%s\n", *safe ? " in " : "", safe);
	}
	if (!summary->functions.count)
		summary_put_line(summary, "no samples");
}

/* Writes the outermost and the innermost names of a path. */
static void put_path(const struct summary *summary, uint32_t path)
{
	const struct own_path *paths = summary->own.paths;
	uint32_t labels[1024], depth = 0;

	for (; path && depth < ARRAY_SIZE(labels); path = paths[path].parent)
		labels[depth++] = paths[path].label;
	for (uint32_t i = 0; i < depth; i++) {
		if (depth > PATH_NAMES && i == PATH_NAMES / 2) {
			fprintf(summary->out, " → … (%u)", depth - PATH_NAMES);
			i = depth - PATH_NAMES / 2;
		}
		fputs(i ? " → " : "", summary->out);
		summary_put_name(summary, labels[depth - 1 - i]);
	}
	fputc('\n', summary->out);
}

static void put_paths(const struct summary *summary)
{
	const struct own_sums *own = &summary->own;

	fputs("\n## Hottest paths\n\n", summary->out);
	for (uint32_t i = 0; i < own->hottest_count && i < PATHS; i++) {
		struct humanized share;

		fprintf(summary->out, "%u. %s ", i + 1,
			summary_share_of(&share, own->paths[own->hottest[i]].sum.weight,
					 own->all.weight));
		put_path(summary, own->hottest[i]);
	}
	if (!own->hottest_count)
		summary_put_line(summary, "no samples");
}

/* ---- Waits and allocations ---- */

/* Initializes a view of another event with the same selection. */
static struct error *view_of(const struct summary *summary, event_id event, struct view *ret)
{
	const struct view_options *selection = summary->options->summary.selection;
	struct view_options options = selection ? *selection : (struct view_options){0};

	options.event = event;
	options.names = NAMES_SHORT;
	return view_init_selected(ret, summary->profile, &options);
}

static void put_waits(const struct summary *summary, const struct view *view,
		      const struct rows *rows)
{
	for (size_t i = 0; i < rows->count && i < (summary->rows + 1) / 2; i++) {
		const struct row *row = &rows->items[i];
		CLEANUP(free_ptr) char *reason = row_reason(view, row);
		CLEANUP(free_ptr) char *name = shorten(row->name, SUMMARY_NAME_COLUMNS);
		CLEANUP(free_ptr) char *code = markdown_code(name);
		CLEANUP(free_ptr) char *safe = markdown_text(reason);

		fprintf(summary->out, "- %s %s%s%s\n",
			profile_humanize_weight(summary->profile, view->event, row->self.weight)
				.text,
			code, *safe ? ": " : "", safe);
	}
	if (!rows->count)
		summary_put_line(summary, "none");
}

static struct error *summary_put_sums(const struct summary *summary, event_id event,
				      void put(const struct summary *summary,
					       const struct view *view, const struct rows *rows))
{
	struct view view;
	struct rows rows;
	struct error *err = view_of(summary, event, &view);

	if (err)
		return err;
	rows_init(&rows, &view, ROW_FUNCTION);
	put(summary, &view, &rows);
	rows_deinit(&rows);
	view_deinit(&view);
	return NULL;
}

static struct error *summary_put_waits(const struct summary *summary)
{
	event_id event;

	fputs("\n## Waits\n\n", summary->out);
	if (waiting_event(summary->profile, &event))
		return summary_put_sums(summary, event, put_waits);
	summary_put_line(summary, "not recorded: prof record --wall or --off-cpu");
	return NULL;
}

static struct error *summary_put_allocations(const struct summary *summary)
{
	CLEANUP(free_ptr) char *allocated = memory_allocated_text(summary->profile);
	CLEANUP(free_ptr) char *inuse = memory_inuse_text(summary->profile);
	event_id event;

	fputs("\n## Allocations\n\n", summary->out);
	summary_put_lines(summary, allocated);
	summary_put_lines(summary, inuse);
	if (memory_event_find(summary->profile, MEMORY_ALLOC_SPACE, &event) ||
	    memory_event_find(summary->profile, MEMORY_INUSE_SPACE, &event))
		return summary_put_sums(summary, event, put_waits);
	summary_put_line(summary, "not recorded: prof record --alloc");
	return NULL;
}

/* ---- What is missing ---- */

static uint64_t unsampled_weight(const struct summary *summary)
{
	uint64_t weight = 0;

	for (size_t i = 0; i < summary->functions.count; i++)
		if (display_labels_is_unsampled(&summary->view.labels,
						summary->functions.items[i].label))
			weight += summary->functions.items[i].total.weight;
	return weight;
}

static uint64_t weight_without_line(const struct summary *summary)
{
	const struct own_sums *own = &summary->own;
	uint64_t weight = 0;

	for (uint32_t i = 0; i < own->count; i++)
		weight += own->functions[i].line ? 0 : own->functions[i].sum.weight;
	return weight;
}

/* A share below a hundredth is not worth a line. */
static bool put_missing_share(const struct summary *summary, uint64_t part, const char *what)
{
	CLEANUP(free_ptr) char *text = NULL;

	if (!part || part < summary->own.all.weight / 100)
		return false;
	text = xasprintf("%s %s", humanize_share(part, summary->own.all.weight).text, what);
	summary_put_line(summary, text);
	return true;
}

static void summary_put_missing(const struct summary *summary)
{
	CLEANUP(free_ptr) char *runtimes = runtime_use_text(summary->profile);
	bool is_any = runtimes && *runtimes;

	fputs("\n## What is missing\n\n", summary->out);
	is_any |= put_missing_share(
		summary, unsampled_weight(summary),
		"was counted but not sampled ([kernel], [not sampled]): prof doctor");
	is_any |= put_missing_share(summary, weight_without_line(summary),
				    "is in functions without source lines: compile with -g");
	summary_put_lines(summary, runtimes);
	if (!is_any)
		summary_put_line(summary, "nothing that prof knows of");
}

/* ---- Look deeper ---- */

/* Writes a command: its words before the file, and a word after it or NULL. */
static void put_command(const struct summary *summary, const char *before, const char *after,
			const char *does)
{
	const char *path = summary->options->summary.path;
	CLEANUP(free_ptr) char *file = path ? shell_word(path) : xstrdup("FILE");
	CLEANUP(free_ptr)
	char *line = xasprintf("prof %s %s%s%s", before, file, after ? " " : "",
			       after ? after : "");
	CLEANUP(free_ptr) char *code = markdown_code(line);

	fprintf(summary->out, "- %s: %s\n", code, does);
}

static void put_commands_of(const struct summary *summary, uint32_t label)
{
	CLEANUP(free_ptr) char *name = shell_word(summary->view.labels.items[label].shown);
	CLEANUP(free_ptr) char *callees = xasprintf("report --callees %s", name);

	put_command(summary, callees, NULL, "what the hottest function calls");
	put_command(summary, "annotate", name, "its source lines");
}

static void summary_put_commands(const struct summary *summary)
{
	fputs("\n## Look deeper\n\n", summary->out);
	put_command(summary, "report", NULL, "all functions and the call tree");
	if (summary->own.count)
		put_commands_of(summary, summary->own.functions[0].label);
	put_command(summary, "report --by thread", NULL, "threads");
	put_command(summary, "convert -o profile.html", NULL, "the HTML report");
}

static void summary_put_title(const struct summary *summary)
{
	CLEANUP(free_ptr) char *title = title_of(summary->profile);
	CLEANUP(free_ptr) char *safe = markdown_text(*title ? title : "profile");

	fprintf(summary->out, "# Profile of %s\n", safe);
}

static struct error *put_all(const struct summary *summary)
{
	struct error *err;

	summary_put_title(summary);
	summary_put_recorded(summary);
	summary_put_quality(summary);
	put_own_functions(summary);
	put_hottest(summary);
	put_paths(summary);
	err = summary_put_waits(summary);
	if (!err)
		err = summary_put_allocations(summary);
	if (err)
		return err;
	summary_put_missing(summary);
	summary_put_commands(summary);
	return NULL;
}

/* ---- The limit ---- */

static uint64_t count_lines(const char *text)
{
	uint64_t lines = 0;

	for (; (text = strchr(text, '\n')); text++)
		lines++;
	return lines;
}

/* Writes the text into memory. The caller frees it. */
static struct error *written_text(struct summary *summary, char **ret)
{
	size_t len;
	struct error *err;

	summary->out = open_memstream(ret, &len);
	if (!summary->out)
		return error_errno(errno, "write the summary");
	err = put_all(summary);
	if (fclose(summary->out) && !err)
		err = error_errno(errno, "write the summary");
	return err;
}

/* Writes the first lines. The last one reports that lines are missing. */
static void put_first_lines(const char *text, uint64_t lines, FILE *out)
{
	uint64_t all = count_lines(text);

	if (all <= lines) {
		fputs(text, out);
		return;
	}
	for (uint64_t i = 0; i + 1 < lines; i++, text = strchr(text, '\n') + 1)
		fprintf(out, "%.*s\n", (int)strcspn(text, "\n"), text);
	fprintf(out, "(%s more lines)\n", humanize_count(all - lines + 1).text);
}

/* Tables become shorter until the text has at most this many lines. */
static struct error *put_limited(struct summary *summary, FILE *out)
{
	uint64_t lines = summary->options->summary.lines ? summary->options->summary.lines
							 : SUMMARY_LINES;

	for (summary->rows = MOST_ROWS;; summary->rows--) {
		CLEANUP(free_ptr) char *text = NULL;
		struct error *err = written_text(summary, &text);

		if (err)
			return err;
		if (summary->rows > 1 && count_lines(text) > lines)
			continue;
		put_first_lines(text, lines, out);
		return NULL;
	}
}

static struct error *summary_write(const struct profile *profile,
				   const struct format_options *options, FILE *out)
{
	struct summary summary = {.profile = profile, .options = options};
	struct error *err = view_of(&summary, options->event, &summary.view);

	if (err)
		return err;
	own_sums_init(&summary.own, &summary.view);
	rows_init(&summary.functions, &summary.view, ROW_FUNCTION);
	err = put_limited(&summary, out);
	rows_deinit(&summary.functions);
	own_sums_deinit(&summary.own);
	view_deinit(&summary.view);
	if (!err && (fflush(out) || ferror(out)))
		err = error_errno(errno, "write the summary");
	return err;
}

const struct format format_summary = {
	.name = "summary",
	.extensions = (const char *const[]){".md", NULL},
	.summary = "summary in Markdown, for people and assistants",
	.viewer = "less FILE",
	.write = summary_write,
};
