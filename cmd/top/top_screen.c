#include "cmd/top/top_screen.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/top/top_keys.h"
#include "cmd/top/top_ui.h"
#include "cmd/ui/terminal.h"

#include <poll.h>
#include <unistd.h>

static void top_screen_refresh(struct top_ui *ui)
{
	live_refresh(ui->live);
	top_ui_update(ui);
	top_ui_draw(ui);
	if (ui->refreshes_left && --ui->refreshes_left == 0)
		ui->quits = true;
}

/* While paused, only the time in the title changes. */
static void next_refresh(struct top_ui *ui)
{
	ui->next_ns = clock_now_ns() + ui->delay_ns;
	if (ui->paused)
		top_ui_draw(ui);
	else
		top_screen_refresh(ui);
}

/* The content stays until the user quits or a signal arrives. */
static void take_keys(struct top_ui *ui, struct signal_guard *guard)
{
	struct received_signal signal;
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = signal_guard_fd(guard), .events = POLLIN}};

	while (!ui->quits) {
		if (poll(fds, 2, -1) > 0 && fds[1].revents && signal_guard_next(guard, &signal))
			break;
		top_keys_take(ui);
	}
}

/* Sampling has ended: the last refresh stays. */
static void look_at_the_end(struct top_ui *ui)
{
	ui->ended = true;
	recorder_stop(ui->live->recording.recorder);
	if (!ui->paused)
		top_screen_refresh(ui);
	top_ui_draw(ui);
	take_keys(ui, ui->live->recording.signals.guard);
}

/* Keys are taken after each run of the loop. */
static void on_key(void *user)
{
	(void)user;
}

/* On the terminal itself, the sentence would overwrite the screen. */
static void show_notice(void *user, const char *text)
{
	top_ui_complain(user, xstrdup(text));
}

struct error *top_screen_run(struct live *live, struct display *display,
			     const struct top_screen_options *options)
{
	struct recording *recording = &live->recording;
	struct top_ui ui = {
		.live = live,
		.display = display,
		.target = options->target,
		.note = options->note,
		.delay_ns = options->delay_ns,
		.next_ns = clock_now_ns() + options->delay_ns,
		.refreshes_left = options->refreshes,
	};
	const struct listener listener = recording->listener;
	struct loop_watch *keys = NULL;
	struct error *err = terminal_open();
	bool goes_on = true;

	if (err)
		return err;
	err = loop_watch(recording->loop, STDIN_FILENO, on_key, NULL, &keys);
	if (err) {
		terminal_close();
		return err;
	}
	recording->listener =
		(struct listener){.notice = show_notice, .problem = show_notice, .user = &ui};
	top_ui_update(&ui);
	top_ui_draw(&ui);
	while (goes_on && !ui.quits) {
		goes_on = recording_run(recording, ui.next_ns);
		top_keys_take(&ui);
		if (goes_on && !ui.quits && clock_now_ns() >= ui.next_ns)
			next_refresh(&ui);
	}
	if (!goes_on && recording->end != RECORDING_INTERRUPTED && !ui.quits)
		look_at_the_end(&ui);
	if (goes_on)
		recording->end = RECORDING_OVER;
	loop_unwatch(recording->loop, keys);
	recording->listener = listener;
	top_ui_complain(&ui, NULL);
	terminal_close();
	return NULL;
}

struct error *top_screen_show_past(struct past *past, struct display *display,
				   const char *directory)
{
	struct top_ui ui = {.past = past, .display = display, .target = directory};
	struct signals signals;
	struct error *err = signals_open(&signals);

	if (err)
		return err;
	err = terminal_open();
	if (!err) {
		top_ui_update(&ui);
		top_ui_draw(&ui);
		take_keys(&ui, signals.guard);
		top_ui_complain(&ui, NULL);
		terminal_close();
	}
	signals_close(&signals);
	return err;
}
