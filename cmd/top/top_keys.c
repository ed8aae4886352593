#include "cmd/top/top_keys.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/ui/terminal.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LEAST_SHARE 0.0001
#define MOST_SHARE 0.2
#define LEAST_DELAY_NS UINT64_C(100000000)

static void go_to_first(struct top_ui *ui)
{
	ui->selected = ui->first = 0;
}

static void top_keys_hold(struct top_ui *ui)
{
	if (ui->ended)
		return;
	ui->paused = !ui->paused;
	if (!ui->paused)
		live_skip(ui->live);
}

static void turn_to_table(struct top_ui *ui, int step)
{
	struct display_options *options = display_options(ui->display);
	int count = ROW_THREAD + 1;

	options->page = DISPLAY_TABLE;
	options->by = (struct row_by){
		.key = (enum row_key)(((int)options->by.key + step + count) % count)};
	go_to_first(ui);
}

static void open_further(struct top_ui *ui, double factor)
{
	double *share = &display_options(ui->display)->least_share;

	*share *= factor;
	if (*share < LEAST_SHARE)
		*share = LEAST_SHARE;
	if (*share > MOST_SHARE)
		*share = MOST_SHARE;
}

static void next_event(struct top_ui *ui)
{
	struct display_options *options = display_options(ui->display);

	options->event = (options->event + 1) % profile_event_count(top_ui_profile(ui));
}

static void top_keys_ask(struct top_ui *ui, enum prompt prompt)
{
	ui->prompt = prompt;
	ui->answer[0] = '\0';
	if (prompt == PROMPT_FILTER && display_options(ui->display)->filter)
		strncat(ui->answer, display_options(ui->display)->filter, sizeof(ui->answer) - 1);
}

struct error *top_take_delay(void *field, const char *argument)
{
	uint64_t *delay_ns = field;
	struct error *err = option_time(delay_ns, argument);

	if (!err && *delay_ns < LEAST_DELAY_NS)
		*delay_ns = LEAST_DELAY_NS;
	return err;
}

static void take_delay(struct top_ui *ui)
{
	struct error *err = top_take_delay(&ui->delay_ns, ui->answer);

	if (err) {
		top_ui_complain(ui, xstrdup(error_text(err)));
		error_free(err);
		return;
	}
	ui->next_ns = clock_now_ns() + ui->delay_ns;
}

static void top_keys_take_answer(struct top_ui *ui)
{
	struct error *err;

	if (ui->prompt == PROMPT_DELAY) {
		take_delay(ui);
		return;
	}
	err = display_set_filter(ui->display, ui->answer);
	if (err) {
		top_ui_complain(ui, xstrdup(error_text(err)));
		error_free(err);
	}
	go_to_first(ui);
}

static void prompt_key(struct top_ui *ui, int key)
{
	size_t len = strlen(ui->answer);

	if (key == TERMINAL_ENTER) {
		top_keys_take_answer(ui);
		ui->prompt = PROMPT_NONE;
	} else if (key == TERMINAL_ESCAPE) {
		ui->prompt = PROMPT_NONE;
	} else if (key == TERMINAL_BACKSPACE) {
		/* Removes all bytes of a character. */
		while (len && ((unsigned char)ui->answer[--len] & 0xc0) == 0x80)
			continue;
		ui->answer[len] = '\0';
	} else if (key >= ' ' && key < 0x100 && len + 1 < sizeof(ui->answer)) {
		ui->answer[len] = (char)key;
		ui->answer[len + 1] = '\0';
	}
}

/* Returns true if the key moves the selection. */
static bool moves(struct top_ui *ui, int key)
{
	size_t page = top_ui_lines(), count = display_count(ui->display);

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

static void top_keys_step(struct top_ui *ui, int direction)
{
	struct error *err = past_step(ui->past, direction);

	/* Overwrite messages about segments. */
	terminal_redraw();
	if (err) {
		top_ui_complain(ui, xstrdup(error_text(err)));
		error_free(err);
	}
	top_ui_update(ui);
}

static void go_back(struct top_ui *ui)
{
	if (ui->shows_help)
		ui->shows_help = false;
	else if (display_back(ui->display))
		go_to_first(ui);
	else if (display_options(ui->display)->filter)
		error_free(display_set_filter(ui->display, ""));
}

static void top_keys_open_source(struct top_ui *ui)
{
	if (!display_open_source(ui->display, ui->selected)) {
		top_ui_complain(ui, xstrdup("no function in this line"));
		return;
	}
	top_ui_update(ui);
	ui->first = 0;
	ui->selected = display_hottest(ui->display);
}

static void page_key(struct top_ui *ui, int key)
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
		options->order = key == 's' ? ROWS_BY_SELF : ROWS_BY_TOTAL;
		go_to_first(ui);
		break;
	case 'a':
		top_keys_open_source(ui);
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
	case 'L':
		options->logical = !options->logical;
		options->may_turn_logical = false;
		go_to_first(ui);
		break;
	case 'e':
		next_event(ui);
		break;
	default:
		top_ui_complain(ui, xstrdup("unknown key; ? lists the keys"));
	}
	top_ui_update(ui);
}

/* Returns true for keys of the live view. */
static bool is_live_key(struct top_ui *ui, int key)
{
	switch (key) {
	case ' ':
	case 'p':
		top_keys_hold(ui);
		return true;
	case 'z':
		live_forget(ui->live);
		top_ui_update(ui);
		return true;
	case 'd':
		top_keys_ask(ui, PROMPT_DELAY);
		return true;
	default:
		return false;
	}
}

/* Returns true for keys of the view of the past. */
static bool is_past_key(struct top_ui *ui, int key)
{
	switch (key) {
	case '[':
	case TERMINAL_LEFT:
		top_keys_step(ui, -1);
		return true;
	case ']':
	case TERMINAL_RIGHT:
		top_keys_step(ui, 1);
		return true;
	default:
		return false;
	}
}

/* The end of the input can be seen before SIGHUP, which is the actual reason. A
 * process that is not the session leader does not get SIGHUP. */
static void hang_up(struct top_ui *ui)
{
	if (ui->live)
		kill(getpid(), SIGHUP);
	else
		ui->quits = true;
}

static void other_key(struct top_ui *ui, int key)
{
	if (ui->live ? is_live_key(ui, key) : is_past_key(ui, key))
		return;
	switch (key) {
	case 'q':
		ui->quits = display_options(ui->display)->page != DISPLAY_SOURCE;
		if (!ui->quits)
			page_key(ui, TERMINAL_BACKSPACE);
		break;
	case 'Q':
		ui->quits = true;
		break;
	case TERMINAL_GONE:
		hang_up(ui);
		break;
	case '?':
	case 'h':
		ui->shows_help = !ui->shows_help;
		break;
	case '/':
		top_keys_ask(ui, PROMPT_FILTER);
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

void top_keys_take(struct top_ui *ui)
{
	bool any = false;
	int key = TERMINAL_NO_KEY;

	while (!ui->quits && key != TERMINAL_GONE && (key = terminal_key()) != TERMINAL_NO_KEY) {
		top_ui_complain(ui, NULL);
		if (ui->prompt && key != TERMINAL_GONE && key != TERMINAL_RESIZED) {
			prompt_key(ui, key);
			top_ui_update(ui);
		} else {
			other_key(ui, key);
		}
		any = true;
	}
	if (any && !ui->quits)
		top_ui_draw(ui);
}
