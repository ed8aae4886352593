/*
 * prof top on a terminal: draws the display and handles keys.
 */
#ifndef PROF_CMD_TOP_SCREEN_H
#define PROF_CMD_TOP_SCREEN_H

#include "cmd/live_view.h"
#include "cmd/past_view.h"
#include "cmd/top_display.h"

struct top_screen_options {
	uint64_t delay_ns;
	uint64_t refreshes; /* ends after this number; 0: no limit */
	const char *target; /* what is sampled, or the directory of the past, for the title */
	const char *note;   /* a remark for the title; NULL: none */
};

/* Returns when the user quits; after sampling has ended the last refresh stays on the screen.
 * Sampling must have begun. */
MUST_CHECK struct error *top_screen_run(struct live *live, struct display *display,
					const struct top_screen_options *options);
/* The same of a past time, until the user quits or a signal comes. */
MUST_CHECK struct error *top_screen_show_past(struct past *past, struct display *display,
					      const char *directory);

#endif
