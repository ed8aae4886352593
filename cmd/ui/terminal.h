/*
 * The terminal as a screen with rows of text and keys. There is only one, so
 * these functions take no object. After terminal_open() the terminal is
 * restored however prof ends: by terminal_close(), exit(3), quick_exit(3) or
 * any signal except SIGKILL.
 */
#ifndef PROF_CMD_UI_TERMINAL_H
#define PROF_CMD_UI_TERMINAL_H

#include "cmd/ui/style.h"

#include <stdbool.h>

/* Keys without a character. All other keys are their character. */
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

/* Returns true if stdin and stdout are terminals. */
bool terminal_is_possible(void);
MUST_CHECK struct error *terminal_open(void);
void terminal_close(void);

unsigned terminal_rows(void);
unsigned terminal_columns(void);

/* Output becomes visible with terminal_show(). */
void terminal_clear(void);
/* Puts printable UTF-8 text at a row and column. The text is cut off at the
 * right edge. */
void terminal_put(unsigned row, unsigned column, const char *text, enum style style);
/* Fills a row from a column to its end with a style. */
void terminal_fill(unsigned row, unsigned column, enum style style);
void terminal_show(void);
/* Makes the next terminal_show() draw everything again, in case other programs
 * have written to the terminal. */
void terminal_redraw(void);

/* Returns the next key, or TERMINAL_NO_KEY without waiting. */
int terminal_key(void);

#endif
