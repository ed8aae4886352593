#include "cmd/top/top_ui.h"

#include "base/alloc.h"
#include "base/humanize.h"
#include "base/printable.h"
#include "cmd/ui/terminal.h"
#include "report/view.h"

#include <string.h>

enum { FIRST_ROW = 3, TOP_HELP_COLUMN = 4 };

#define HELP_OF_SHARES "self: samples in the function itself; total: with the functions it calls."

static const char top_help[] =
	"Up Down PgUp PgDn Home End   select a line\n"
	"Enter      show the callers and callees of a function, or the functions of a\n"
	"           module, process or thread\n"
	"a          show the source lines and instructions of the function\n"
	"Backspace  return to the page before\n"
	"s t        sort by self, by total\n"
	"b B        next, previous table: by function, file, line, module, process,\n"
	"           thread\n"
	"c          switch between the call tree and the table\n"
	"L          fold code of runtimes into the functions it calls, or show it\n"
	"+ -        show more, less of the tree\n"
	"/          show only rows that match a regular expression\n"
	"e          show the next event\n"
	"Ctrl-L     redraw the screen\n"
	"q          quit; from a source: return\n";
static const char live_help[] = "Space      pause, continue\n"
				"z          forget all samples\n"
				"d          set the refresh interval\n"
				"\n" HELP_OF_SHARES "\n"
				"Older samples fade: after five seconds they weigh half.";
static const char past_help[] = "[ Left     go to the time before\n"
				"] Right    go to the time after\n"
				"\n" HELP_OF_SHARES;

void top_ui_complain(struct top_ui *ui, char *text)
{
	free(ui->complaint);
	ui->complaint = text;
}

unsigned top_ui_lines(void)
{
	unsigned rows = terminal_rows();

	return rows > FIRST_ROW + 1 ? rows - FIRST_ROW - 1 : 1;
}

/* Moves the selection to an existing line and scrolls to it. */
static void top_ui_settle(struct top_ui *ui)
{
	size_t count = display_count(ui->display), room = top_ui_lines();

	if (ui->selected >= count)
		ui->selected = count ? count - 1 : 0;
	if (ui->first > ui->selected)
		ui->first = ui->selected;
	if (ui->selected >= ui->first + room)
		ui->first = ui->selected - room + 1;
	if (ui->first + room > count)
		ui->first = count > room ? count - room : 0;
}

const struct profile *top_ui_profile(const struct top_ui *ui)
{
	return ui->past ? ui->past->profile
			: recorder_pipeline(ui->live->recording.recorder)->profile;
}

/* Returns the shown event, and the one that the key e shows next. The caller
 * frees the text. */
static char *top_ui_events_of(const struct top_ui *ui)
{
	const struct profile *profile = top_ui_profile(ui);
	event_id shown = display_options(ui->display)->event;
	event_id next = (shown + 1) % profile_event_count(profile);
	const char *name = profile_string(profile, profile_get_event(profile, shown)->name);

	if (next == shown)
		return xstrdup(name);
	return xasprintf("%s (e: %s)", name,
			 profile_string(profile, profile_get_event(profile, next)->name));
}

static char *live_title(const struct top_ui *ui)
{
	CLEANUP(free_ptr) char *events = top_ui_events_of(ui);
	CLEANUP(free_ptr) char *load = live_load(ui->live);
	CLEANUP(free_ptr) char *summary = live_summary(ui->live);

	return xasprintf("prof top: %s, %s%s%s, %s, %.0f s", ui->target, load ? load : "",
			 load ? ", " : "", summary, events,
			 recording_seconds(&ui->live->recording));
}

static char *past_title(const struct top_ui *ui)
{
	CLEANUP(free_ptr) char *events = top_ui_events_of(ui);
	CLEANUP(free_ptr) char *words = past_words(ui->past);
	struct sum sum = view_event_sum(ui->past->profile, display_options(ui->display)->event);

	return xasprintf("prof top: %s, %s, %s samples, %s", words, events,
			 humanize_count(sum.samples).text, ui->target);
}

/* Draws the parts of a text that fit into the columns. */
static void draw_parts(unsigned row, const char *text, const char *joint, unsigned columns,
		       enum style style)
{
	CLEANUP(free_ptr) char *fitting = xstrdup(text);

	while (printable_columns(fitting) > columns) {
		char *last = NULL;

		for (char *at = fitting; (at = strstr(at, joint)); at++)
			last = at;
		if (!last)
			break;
		*last = '\0';
	}
	terminal_put(row, 0, fitting, style);
}

static void draw_title(const struct top_ui *ui)
{
	CLEANUP(free_ptr) char *text = ui->past ? past_title(ui) : live_title(ui);
	CLEANUP(free_ptr) char *shown = printable(text);
	const char *state = ui->ended ? " ENDED " : ui->paused ? " PAUSED " : "";
	unsigned columns = terminal_columns(), len = (unsigned)strlen(state);

	draw_parts(0, shown, ", ", columns > len ? columns - len : columns, STYLE_HEADING);
	if (len && columns > len)
		terminal_put(0, columns - len, state, STYLE_SELECTED);
}

/* Draws a remark if there is room for it after column *end. */
static void draw_remark(const char *text, unsigned *end)
{
	if (!text || terminal_columns() <= *end + 2)
		return;
	terminal_put(1, *end + 2, text, STYLE_FAINT);
	*end += 2 + (unsigned)printable_columns(text);
}

static void draw_page(const struct top_ui *ui)
{
	CLEANUP(free_ptr) char *title = display_title(ui->display);
	CLEANUP(free_ptr) char *shown = printable(title);
	CLEANUP(free_ptr) char *times = ui->live ? live_times(ui->live) : NULL;
	CLEANUP(free_ptr) char *heading = display_heading(ui->display, terminal_columns());
	unsigned end = (unsigned)printable_columns(shown);

	draw_parts(1, shown, ", ", terminal_columns(), STYLE_PLAIN);
	draw_remark(times, &end);
	draw_remark(ui->note, &end);
	terminal_fill(2, 0, STYLE_SELECTED);
	terminal_put(2, 0, heading, STYLE_SELECTED);
}

static enum style style_of(const struct top_line *line)
{
	if (line->is_heading)
		return STYLE_HEADING;
	return line->heat == STYLE_PLAIN ? STYLE_FAINT : line->heat;
}

/* The shares and the bar have the style of their heat; names are plain. */
static void draw_line(const struct top_ui *ui, size_t index, unsigned row)
{
	CLEANUP(top_line_deinit) struct top_line line;
	unsigned columns = terminal_columns();

	display_line(ui->display, index, columns, &line);
	if (index == ui->selected) {
		terminal_fill(row, 0, STYLE_SELECTED);
		terminal_put(row, 0, line.text, STYLE_SELECTED);
		return;
	}
	terminal_put(row, 0, line.text, style_of(&line));
	if (!line.is_heading)
		terminal_put(row, line.names_column, line.text + line.names_at, STYLE_PLAIN);
}

static void draw_lines(const struct top_ui *ui)
{
	size_t count = display_count(ui->display);

	for (unsigned i = 0; i < top_ui_lines() && ui->first + i < count; i++)
		draw_line(ui, ui->first + i, FIRST_ROW + i);
	if (!count)
		terminal_put(FIRST_ROW, TOP_HELP_COLUMN,
			     display_options(ui->display)->filter ? "no rows match the filter"
			     : ui->live				  ? "no samples yet"
								  : "no samples",
			     STYLE_FAINT);
}

static void draw_help(const struct top_ui *ui)
{
	CLEANUP(free_ptr)
	char *copy = xasprintf("%s%s", top_help, ui->live ? live_help : past_help);
	char *rest = copy, *line;

	for (unsigned row = FIRST_ROW; (line = strsep(&rest, "\n")); row++)
		terminal_put(row, TOP_HELP_COLUMN, line, STYLE_PLAIN);
}

static void draw_last_row(const struct top_ui *ui)
{
	static const char live_keys[] = "q quit  ? help  Enter open  a source  s t sort  b by  "
					"c tree  L fold  / filter";
	static const char past_keys[] = "q quit  ? help  [ ] times  Enter open  a source  "
					"s t sort  b by  c tree  L fold";
	unsigned row = terminal_rows() - 1;
	const char *question = ui->prompt == PROMPT_FILTER  ? "filter: "
			       : ui->prompt == PROMPT_DELAY ? "seconds: "
							    : NULL;

	if (question) {
		CLEANUP(free_ptr) char *text = xasprintf("%s%s", question, ui->answer);
		CLEANUP(free_ptr) char *shown = printable(text);

		terminal_put(row, 0, shown, STYLE_HEADING);
		terminal_put(row, (unsigned)printable_columns(shown), " ", STYLE_SELECTED);
	} else if (ui->complaint) {
		CLEANUP(free_ptr) char *shown = printable(ui->complaint);

		terminal_put(row, 0, shown, STYLE_HEADING);
	} else {
		draw_parts(row, ui->live ? live_keys : past_keys, "  ", terminal_columns(),
			   STYLE_FAINT);
	}
}

void top_ui_draw(struct top_ui *ui)
{
	top_ui_settle(ui);
	terminal_clear();
	draw_title(ui);
	draw_page(ui);
	if (ui->shows_help)
		draw_help(ui);
	else
		draw_lines(ui);
	draw_last_row(ui);
	terminal_show();
}

void top_ui_update(struct top_ui *ui)
{
	display_options(ui->display)->columns = terminal_columns();
	display_update(ui->display, ui->past ? ui->past->profile : live_profile(ui->live));
}
