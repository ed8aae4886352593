/*
 * Text styles by kind of text, and the decision whether colour is used. Reports
 * and the live view share them.
 *
 * --color always and --color never decide alone. With auto, NO_COLOR turns
 * colour off and CLICOLOR_FORCE turns it on. Without either, colour is used if
 * stdout is a terminal, TERM is not "dumb" and CLICOLOR is not 0 (no-color.org,
 * bixense.com/clicolors).
 */
#ifndef PROF_CMD_UI_STYLE_H
#define PROF_CMD_UI_STYLE_H

#include "cmd/ui/options.h"

#include <stdbool.h>
#include <stdint.h>

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

option_take colour_take_when; /* enum colour_when */
bool colour_is_used(enum colour_when when);

/* Returns true if TERM names no terminal, or one without control sequences. */
bool terminal_is_dumb(void);

enum style {
	STYLE_PLAIN,
	STYLE_HEADING,
	STYLE_FAINT,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_LESS, /* it costs less than before */
	STYLE_KERNEL,
	STYLE_JIT,
	STYLE_INTERPRETED,
	STYLE_SELECTED,
	STYLES,
};

enum { COLOUR_DEFAULT = -1 };

struct style_look {
	bool bold, faint, reverse;
	int colour; /* ANSI: 0 black to 7 white, or COLOUR_DEFAULT */
};

struct style_look style_look(enum style style);

/* Returns STYLE_HOT from 10 %, STYLE_WARM from 2 %, otherwise STYLE_PLAIN. */
enum style style_of_share(uint64_t part, uint64_t whole);

/* Returns the escape sequence that starts a style. STYLE_PLAIN ends the
 * previous one. */
const char *style_sequence(enum style style);

#endif
