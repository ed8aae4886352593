/*
 * prof top on a terminal: the picture, and what keys do.
 */
#ifndef PROF_CMD_TOP_SCREEN_H
#define PROF_CMD_TOP_SCREEN_H

#include "cmd/live.h"
#include "cmd/top_display.h"

struct top_screen_options {
	uint64_t delay_ns;
	uint64_t pictures;  /* end after so many; 0: when the user says so */
	const char *target; /* what is sampled, for the first line */
	const char *note;   /* what else is to be known; NULL: nothing */
};

/* Until the user quits, who may go on looking when sampling has ended. Sampling has begun. */
MUST_CHECK struct error *top_screen_run(struct live *live, struct display *display,
					const struct top_screen_options *options);

#endif
