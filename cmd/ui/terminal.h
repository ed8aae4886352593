/*
 * The terminal as a screen: rows of text and keys. There is only one, so these functions take no
 * object. After terminal_open() the terminal is restored however prof ends: by terminal_close(),
 * exit(3), quick_exit(3) or any signal but SIGKILL.
 */
#ifndef PROF_CMD_UI_TERMINAL_H
#define PROF_CMD_UI_TERMINAL_H

#include "cmd/ui/style.h"

#include <stdbool.h>

/* Keys that have no character. All other keys are their character. */
enum terminal_key {
	TERMINAL_NO_KEY = -1,
	TERMINAL_GONE = -2, /* the terminal has hung up */
	TERMINAL_RESIZED = 0x110000,
	TERMINAL_UP,
	TERMINAL_DOWN,
	TERMINAL_LEFT,
	TERMINAL_RIGHT,
	TERMINAL_PAGE_UP,
	TERMINAL_PAGE_DOWN,
	TERMINAL_HOME,
	TERMINAL_END,
	TERMINAL_ENTER,
	TERMINAL_BACKSPACE,
	TERMINAL_ESCAPE,
};

/* True if stdin and stdout are terminals. */
bool terminal_is_possible(void);
MUST_CHECK struct error *terminal_open(void);
void terminal_close(void);

unsigned terminal_rows(void);
unsigned terminal_columns(void);

/* All output becomes visible with terminal_show(). */
void terminal_clear(void);
/* Puts printable UTF-8 text at a row and column, cut off at the right edge. */
void terminal_put(unsigned row, unsigned column, const char *text, enum style style);
/* Fills a row from a column to its end with a style. */
void terminal_fill(unsigned row, unsigned column, enum style style);
void terminal_show(void);
/* The next terminal_show() draws everything again, in case other programs have written there. */
void terminal_redraw(void);

/* The next key, or TERMINAL_NO_KEY; does not wait. */
int terminal_key(void);

#endif
