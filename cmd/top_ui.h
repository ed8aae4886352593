/*
 * The state of the live view on a terminal, and how it is drawn.
 */
#ifndef PROF_CMD_TOP_UI_H
#define PROF_CMD_TOP_UI_H

#include "cmd/live_view.h"
#include "cmd/past_view.h"
#include "cmd/top_display.h"

/* What the user is asked for in the last row. */
enum prompt { PROMPT_NONE, PROMPT_FILTER, PROMPT_DELAY };

struct top_ui {
	struct live *live; /* NULL: a past time is shown … */
	struct past *past; /* … this one */
	struct display *display;
	const char *target; /* what is sampled, or the directory, for the title */
	const char *note;   /* a remark for the title; NULL: none */
	uint64_t delay_ns, next_ns;
	uint64_t refreshes_left; /* 0: no limit */
	size_t selected, first;
	bool paused, shows_help, ended, quits;
	enum prompt prompt;
	char answer[128];
	char *complaint; /* about the last key; NULL: none */
};

/* The profile with all events. */
const struct profile *top_ui_profile(const struct top_ui *ui);
/* Updates the display from the same samples. */
void top_ui_update(struct top_ui *ui);
/* Draws everything, and scrolls to the selected line. */
void top_ui_draw(struct top_ui *ui);
/* The number of lines of the display that fit on the screen. */
unsigned top_ui_lines(void);
/* A message in the last row; NULL: none. Takes text. */
void top_ui_complain(struct top_ui *ui, char *text);

#endif
