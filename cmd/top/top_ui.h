/*
 * The state of the live view on a terminal, and how it is drawn.
 */
#ifndef PROF_CMD_TOP_TOP_UI_H
#define PROF_CMD_TOP_TOP_UI_H

#include "cmd/top/live_view.h"
#include "cmd/top/past_view.h"
#include "cmd/top/top_display.h"

/* The question in the last row. */
enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY };

struct top_ui {
	struct live *live; /* NULL if a past time is shown */
	struct past *past; /* the past time, or NULL */
	struct display *display;
	const char *target; /* the target, or the directory, for the title */
	const char *note;   /* a remark for the title, or NULL */
	uint64_t delay_ns, next_ns;
	uint64_t refreshes_left; /* 0 for no limit */
	size_t selected, first;
	bool paused, shows_help, ended, quits;
	enum prompt prompt;
	char answer[128];
	char *complaint; /* message about the last key, or NULL */
};

/* Returns the profile with all events. */
const struct profile *top_ui_profile(const struct top_ui *ui);
/* Updates the display from the same samples. */
void top_ui_update(struct top_ui *ui);
/* Draws everything, and scrolls to the selected line. */
void top_ui_draw(struct top_ui *ui);
/* Returns the number of lines that fit on the screen. */
unsigned top_ui_lines(void);
/* Sets the message in the last row, or removes it if text is NULL. Takes text. */
void top_ui_complain(struct top_ui *ui, char *text);

#endif
