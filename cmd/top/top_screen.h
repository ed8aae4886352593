/*
 * Runs prof top on a terminal: draws the display and handles keys.
 */
#ifndef PROF_CMD_TOP_TOP_SCREEN_H
#define PROF_CMD_TOP_TOP_SCREEN_H

#include "cmd/top/live_view.h"
#include "cmd/top/past_view.h"
#include "cmd/top/top_display.h"

struct top_screen_options {
	uint64_t delay_ns;
	uint64_t refreshes; /* end after this many refreshes; 0 for no limit */
	const char *target; /* the target, or the directory of the past, for the title */
	const char *note;   /* a remark for the title, or NULL */
};

/* Returns when the user quits. When sampling has ended, the last refresh stays
 * on the screen. Sampling must have started. */
MUST_CHECK struct error *top_screen_run(struct live *live, struct display *display,
					const struct top_screen_options *options);
/* Shows a past time until the user quits or a signal arrives. */
MUST_CHECK struct error *top_screen_show_past(struct past *past, struct display *display,
					      const char *directory);

#endif
