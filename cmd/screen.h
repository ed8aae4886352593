/*
 * Where reports are shown: stdout. On a terminal as wide as that is, in colours and through a pager
 * (PAGER, else less) that ends by itself where all fits on one screen; else plainly, and 120
 * columns wide. COLUMNS overrules the width; CLICOLOR, CLICOLOR_FORCE and NO_COLOR the colours
 * (bixense.com/clicolors, no-color.org).
 */
#ifndef PROF_CMD_SCREEN_H
#define PROF_CMD_SCREEN_H

#include "cmd/options.h"

#include <stdbool.h>
#include <stdio.h>

enum screen_colours { COLOURS_AUTO, COLOURS_ALWAYS, COLOURS_NEVER };

struct screen_options {
	enum screen_colours colours;
	bool no_pager;
};

/* The entries of a table for struct `type`, which holds the screen_options as `member`. */
#define SCREEN_ENTRIES(type, member)                                                               \
	OPTION_ENTRY(0, "color", "WHEN",                                                           \
		     "auto, always or never; auto is on a terminal, unless the environment says "  \
		     "otherwise",                                                                  \
		     screen_take_colours, offsetof(type, member.colours)),                         \
		OPTION_ENTRY(0, "no-pager", NULL, "do not show it through a pager", option_true,   \
			     offsetof(type, member.no_pager))

option_take screen_take_colours; /* enum screen_colours */

enum screen_style {
	STYLE_PLAIN, /* ends the one before */
	STYLE_HEADING,
	STYLE_FAINT,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_COLD, /* less than before */
	STYLE_KERNEL,
	STYLE_JIT,
};

struct screen {
	FILE *out; /* what is written here is shown at the end */
	unsigned columns;
	bool has_colours;
	bool has_pager;
	char *text;
	size_t len;
};

/* The width, also for those who write to stdout themselves. */
unsigned screen_columns(void);
void screen_open(struct screen *screen, const struct screen_options *options);
/* The sequence that begins a style; "" without colours. */
const char *screen_style(const struct screen *screen, enum screen_style style);
/* Shows it, and waits until the pager is left. */
MUST_CHECK struct error *screen_show(struct screen *screen);
void screen_close(struct screen *screen);

#endif
