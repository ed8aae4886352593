#include "cmd/top_screen.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/figure.h"
#include "cmd/options.h"
#include "cmd/terminal.h"

#include <ctype.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_ROW = 3, HELP_COLUMN = 4 };

#define LEAST_SHARE 0.0001
#define MOST_SHARE 0.2
#define LEAST_DELAY_NS UINT64_C(100000000)

/* What the last row asks for. */
enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY };

struct ui {
	struct live *live;
	struct display *display;
	const struct top_screen_options *options;
	uint64_t delay_ns, next_ns;
	uint64_t pictures_left; /* 0: no end */
	size_t selected, first;
	bool paused, shows_help, ended, quits;
	enum prompt prompt;
	char answer[128];
	char *complaint; /* about the last key; NULL: none */
};

static const char help[] =
	"Up Down PgUp PgDn Home End   another line\n"
	"Enter      who calls the function and whom it calls; the functions of a\n"
	"           module, process or thread\n"
	"a          the source of the function, line by line, and its instructions\n"
	"Backspace  back to what was shown before\n"
	"s t        sort by self, by total\n"
	"b B        the next table, the one before: by function, file, line, module,\n"
	"           process, thread\n"
	"c          the call tree, the table again\n"
	"+ -        open the tree further, less far\n"
	"/          only what a regular expression matches\n"
	"e          the next event\n"
	"Space      hold the picture, go on\n"
	"z          forget what was counted until now\n"
	"d          seconds between two pictures\n"
	"Ctrl-L     draw everything again\n"
	"q          quit; of a source: back\n"
	"\n"
	"self: samples in the function itself; total: in it or in what it calls.\n"
	"What was counted fades: after five seconds it weighs half.";

static void complain(struct ui *ui, char *text)
{
	free(ui->complaint);
	ui->complaint = text;
}

static unsigned lines_on_screen(void)
{
	unsigned rows = terminal_rows();

	return rows > FIRST_ROW + 1 ? rows - FIRST_ROW - 1 : 1;
}

/* The selected line is there, and on the screen. */
static void settle(struct ui *ui)
{
	size_t count = display_count(ui->display), room = lines_on_screen();

	if (ui->selected >= count)
		ui->selected = count ? count - 1 : 0;
	if (ui->first > ui->selected)
		ui->first = ui->selected;
	if (ui->selected >= ui->first + room)
		ui->first = ui->selected - room + 1;
	if (ui->first + room > count)
		ui->first = count > room ? count - room : 0;
}

static void draw_title(const struct ui *ui)
{
	const struct recording *recording = &ui->live->recording;
	const struct session_counts counts = live_counts(ui->live);
	const struct profile_event *event = profile_get_event(recording->profile,
							      display_options(ui->display)->event);
	CLEANUP(free_ptr)
	char *text = xasprintf("prof top: %s, %s, %.0f s, %s samples, %s lost", ui->options->target,
			       profile_string(recording->profile, event->name),
			       (double)(recording->end_ns - recording->start_ns) / 1e9,
			       figure_count(counts.samples).text, figure_count(counts.lost).text);
	CLEANUP(free_ptr) char *shown = printable(text);
	const char *state = ui->ended ? " ENDED " : ui->paused ? " HELD " : "";
	unsigned columns = terminal_columns(), len = (unsigned)strlen(state);

	terminal_put(0, 0, shown, TERMINAL_BOLD);
	if (len && columns > len)
		terminal_put(0, columns - len, state, TERMINAL_REVERSE);
}

static void draw_page(const struct ui *ui)
{
	CLEANUP(free_ptr) char *title = display_title(ui->display);
	CLEANUP(free_ptr) char *shown = printable(title);
	CLEANUP(free_ptr) char *heading = display_heading(ui->display, terminal_columns());

	terminal_put(1, 0, shown, TERMINAL_PLAIN);
	if (ui->options->note && terminal_columns() > printable_columns(shown) + 2)
		terminal_put(1, (unsigned)printable_columns(shown) + 2, ui->options->note,
			     TERMINAL_FAINT);
	terminal_fill(2, 0, TERMINAL_REVERSE);
	terminal_put(2, 0, heading, TERMINAL_REVERSE);
}

static enum terminal_style style_of(const struct display_line *line)
{
	if (line->is_heading)
		return TERMINAL_BOLD;
	return line->heat == HEAT_HOT	 ? TERMINAL_HOT
	       : line->heat == HEAT_WARM ? TERMINAL_WARM
					 : TERMINAL_FAINT;
}

/* Shares and bar in the colour of their heat; the names as they are. */
static void draw_line(const struct ui *ui, size_t index, unsigned row)
{
	CLEANUP(display_line_deinit) struct display_line line;
	unsigned columns = terminal_columns();

	display_line(ui->display, index, columns, &line);
	if (index == ui->selected) {
		terminal_fill(row, 0, TERMINAL_REVERSE);
		terminal_put(row, 0, line.text, TERMINAL_REVERSE);
		return;
	}
	terminal_put(row, 0, line.text, style_of(&line));
	if (!line.is_heading)
		terminal_put(row, line.names_column, line.text + line.names_at, TERMINAL_PLAIN);
}

static void draw_lines(const struct ui *ui)
{
	size_t count = display_count(ui->display);

	for (unsigned i = 0; i < lines_on_screen() && ui->first + i < count; i++)
		draw_line(ui, ui->first + i, FIRST_ROW + i);
	if (!count)
		terminal_put(FIRST_ROW, HELP_COLUMN,
			     display_options(ui->display)->filter
				     ? "nothing that the filter matches"
				     : "no sample yet",
			     TERMINAL_FAINT);
}

static void draw_help(void)
{
	CLEANUP(free_ptr) char *copy = xstrdup(help);
	char *rest = copy, *line;

	for (unsigned row = FIRST_ROW; (line = strsep(&rest, "\n")); row++)
		terminal_put(row, HELP_COLUMN, line, TERMINAL_PLAIN);
}

static void draw_last_row(const struct ui *ui)
{
	static const char keys[] =
		"q quit  ? help  Enter open  a source  Esc back  s t sort  b by  c tree  / filter";
	unsigned row = terminal_rows() - 1;
	const char *question = ui->prompt == PROMPT_FILTER  ? "filter: "
			       : ui->prompt == PROMPT_DELAY ? "seconds: "
							    : NULL;

	if (question) {
		CLEANUP(free_ptr) char *text = xasprintf("%s%s", question, ui->answer);
		CLEANUP(free_ptr) char *shown = printable(text);

		terminal_put(row, 0, shown, TERMINAL_BOLD);
		terminal_put(row, (unsigned)printable_columns(shown), " ", TERMINAL_REVERSE);
	} else if (ui->complaint) {
		CLEANUP(free_ptr) char *shown = printable(ui->complaint);

		terminal_put(row, 0, shown, TERMINAL_BOLD);
	} else {
		terminal_put(row, 0, keys, TERMINAL_FAINT);
	}
}

static void draw(struct ui *ui)
{
	settle(ui);
	terminal_clear();
	draw_title(ui);
	draw_page(ui);
	if (ui->shows_help)
		draw_help();
	else
		draw_lines(ui);
	draw_last_row(ui);
	terminal_show();
}

/* What is shown has changed, not what was counted. */
static void update(struct ui *ui)
{
	display_options(ui->display)->columns = terminal_columns();
	display_update(ui->display, live_profile(ui->live));
}

static void go_to_first(struct ui *ui)
{
	ui->selected = ui->first = 0;
}

static void hold(struct ui *ui)
{
	if (ui->ended)
		return;
	ui->paused = !ui->paused;
	if (!ui->paused)
		live_skip(ui->live);
}

static void turn_to_table(struct ui *ui, int step)
{
	struct display_options *options = display_options(ui->display);
	int count = TOP_THREAD + 1;

	options->page = DISPLAY_TABLE;
	options->by = (enum top_key)(((int)options->by + step + count) % count);
	go_to_first(ui);
}

static void open_further(struct ui *ui, double factor)
{
	double *share = &display_options(ui->display)->least_share;

	*share *= factor;
	if (*share < LEAST_SHARE)
		*share = LEAST_SHARE;
	if (*share > MOST_SHARE)
		*share = MOST_SHARE;
}

static void next_event(struct ui *ui)
{
	struct display_options *options = display_options(ui->display);

	options->event = (options->event + 1) % profile_event_count(ui->live->recording.profile);
}

static void ask(struct ui *ui, enum prompt prompt)
{
	ui->prompt = prompt;
	ui->answer[0] = '\0';
	if (prompt == PROMPT_FILTER && display_options(ui->display)->filter)
		strncat(ui->answer, display_options(ui->display)->filter, sizeof(ui->answer) - 1);
}

static void take_delay(struct ui *ui)
{
	uint64_t delay_ns;
	struct error *err = option_time(&delay_ns, ui->answer);

	if (err) {
		complain(ui, xstrdup(error_text(err)));
		error_free(err);
		return;
	}
	ui->delay_ns = delay_ns < LEAST_DELAY_NS ? LEAST_DELAY_NS : delay_ns;
	ui->next_ns = ui->live->recording.end_ns + ui->delay_ns;
}

static void take_answer(struct ui *ui)
{
	struct error *err;

	if (ui->prompt == PROMPT_DELAY) {
		take_delay(ui);
		return;
	}
	err = display_set_filter(ui->display, ui->answer);
	if (err) {
		complain(ui, xstrdup(error_text(err)));
		error_free(err);
	}
	go_to_first(ui);
}

static void prompt_key(struct ui *ui, int key)
{
	size_t len = strlen(ui->answer);

	if (key == TERMINAL_ENTER) {
		take_answer(ui);
		ui->prompt = PROMPT_NONE;
	} else if (key == TERMINAL_ESCAPE) {
		ui->prompt = PROMPT_NONE;
	} else if (key == TERMINAL_BACKSPACE) {
		/* All bytes of a character. */
		while (len && ((unsigned char)ui->answer[--len] & 0xc0) == 0x80)
			continue;
		ui->answer[len] = '\0';
	} else if (key >= ' ' && key < 0x100 && len + 1 < sizeof(ui->answer)) {
		ui->answer[len] = (char)key;
		ui->answer[len + 1] = '\0';
	}
}

/* True when the key is one that moves. */
static bool moves(struct ui *ui, int key)
{
	size_t page = lines_on_screen(), count = display_count(ui->display);

	switch (key) {
	case TERMINAL_UP:
	case 'k':
		ui->selected -= ui->selected > 0;
		return true;
	case TERMINAL_DOWN:
	case 'j':
		ui->selected++;
		return true;
	case TERMINAL_PAGE_UP:
		ui->selected -= ui->selected > page ? page : ui->selected;
		return true;
	case TERMINAL_PAGE_DOWN:
		ui->selected += page;
		return true;
	case TERMINAL_HOME:
		ui->selected = 0;
		return true;
	case TERMINAL_END:
		ui->selected = count;
		return true;
	default:
		return false;
	}
}

static void go_back(struct ui *ui)
{
	if (ui->shows_help)
		ui->shows_help = false;
	else if (display_back(ui->display))
		go_to_first(ui);
	else if (display_options(ui->display)->filter)
		error_free(display_set_filter(ui->display, ""));
}

static void open_source(struct ui *ui)
{
	if (!display_open_source(ui->display, ui->selected)) {
		complain(ui, xstrdup("no function to open"));
		return;
	}
	update(ui);
	ui->first = 0;
	ui->selected = display_hottest(ui->display);
}

static void page_key(struct ui *ui, int key)
{
	struct display_options *options = display_options(ui->display);

	switch (key) {
	case TERMINAL_ENTER:
	case TERMINAL_RIGHT:
		if (display_enter(ui->display, ui->selected))
			go_to_first(ui);
		break;
	case TERMINAL_BACKSPACE:
	case TERMINAL_ESCAPE:
	case TERMINAL_LEFT:
		go_back(ui);
		break;
	case 's':
	case 't':
		options->order = key == 's' ? TOP_BY_SELF : TOP_BY_TOTAL;
		go_to_first(ui);
		break;
	case 'a':
		open_source(ui);
		return;
	case 'b':
	case 'B':
		turn_to_table(ui, key == 'b' ? 1 : -1);
		break;
	case 'c':
		options->page = options->page == DISPLAY_CALLS ? DISPLAY_TABLE : DISPLAY_CALLS;
		go_to_first(ui);
		break;
	case '+':
	case '-':
		open_further(ui, key == '+' ? 0.5 : 2);
		break;
	case 'e':
		next_event(ui);
		break;
	default:
		complain(ui, xstrdup("no such key; ? lists them"));
	}
	update(ui);
}

static void other_key(struct ui *ui, int key)
{
	switch (key) {
	case 'q':
		ui->quits = display_options(ui->display)->page != DISPLAY_SOURCE;
		if (!ui->quits)
			page_key(ui, TERMINAL_BACKSPACE);
		break;
	case 'Q':
	case TERMINAL_GONE:
		ui->quits = true;
		break;
	case '?':
	case 'h':
		ui->shows_help = !ui->shows_help;
		break;
	case ' ':
	case 'p':
		hold(ui);
		break;
	case 'z':
		live_forget(ui->live);
		update(ui);
		break;
	case '/':
		ask(ui, PROMPT_FILTER);
		break;
	case 'd':
		ask(ui, PROMPT_DELAY);
		break;
	case 'L' & 0x1f:
	case TERMINAL_RESIZED:
		terminal_redraw();
		break;
	default:
		if (!moves(ui, key))
			page_key(ui, key);
	}
}

static void take_keys(struct ui *ui)
{
	bool any = false;
	int key;

	while (!ui->quits && (key = terminal_key()) != TERMINAL_NO_KEY) {
		complain(ui, NULL);
		if (ui->prompt && key != TERMINAL_GONE && key != TERMINAL_RESIZED) {
			prompt_key(ui, key);
			update(ui);
		} else {
			other_key(ui, key);
		}
		any = true;
	}
	if (any && !ui->quits)
		draw(ui);
}

static void refresh(struct ui *ui)
{
	live_refresh(ui->live);
	update(ui);
	draw(ui);
	if (ui->pictures_left && --ui->pictures_left == 0)
		ui->quits = true;
}

/* Time goes on in the first line. */
static void next_picture(struct ui *ui)
{
	ui->next_ns = ui->live->recording.end_ns + ui->delay_ns;
	if (ui->paused)
		draw(ui);
	else
		refresh(ui);
}

/* There is nothing more to come; the last picture stays until the user has seen it. */
static void look_at_the_end(struct ui *ui)
{
	struct received_signal signal;
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = ui->live->recording.signals->fd, .events = POLLIN}};

	ui->ended = true;
	recording_stop(&ui->live->recording);
	if (!ui->paused)
		refresh(ui);
	draw(ui);
	while (!ui->quits) {
		if (poll(fds, 2, -1) > 0 && fds[1].revents &&
		    signals_next(ui->live->recording.signals, &signal))
			break;
		take_keys(ui);
	}
}

struct error *top_screen_run(struct live *live, struct display *display,
			     const struct top_screen_options *options)
{
	struct recording *recording = &live->recording;
	struct ui ui = {
		.live = live,
		.display = display,
		.options = options,
		.delay_ns = options->delay_ns,
		.next_ns = recording->start_ns + options->delay_ns,
		.pictures_left = options->pictures,
	};
	struct error *err = terminal_open();
	bool goes_on = true;

	if (err)
		return err;
	update(&ui);
	draw(&ui);
	while (goes_on && !ui.quits) {
		goes_on = recording_step(recording, ui.next_ns, STDIN_FILENO);
		take_keys(&ui);
		if (goes_on && !ui.quits && recording->end_ns >= ui.next_ns)
			next_picture(&ui);
	}
	if (!goes_on && recording->end != END_SIGNAL && !ui.quits)
		look_at_the_end(&ui);
	if (goes_on)
		recording->end = END_DURATION;
	complain(&ui, NULL);
	terminal_close();
	return NULL;
}
