/*
 * The terminal as a screen: rows of text and keys. There is one, so these are functions without an
 * object. Opened, it is restored at every end of prof: by terminal_close(), exit(3), and signals
 * that end a process; signals.h keeps the ordinary ones away.
 */
#ifndef PROF_CMD_TERMINAL_H
#define PROF_CMD_TERMINAL_H

#include "base/error.h"

#include <stdbool.h>

enum terminal_style {
	TERMINAL_PLAIN,
	TERMINAL_BOLD,
	TERMINAL_FAINT,
	TERMINAL_HOT,
	TERMINAL_WARM,
	TERMINAL_REVERSE,
};

/* Keys without a character; the others are their character. */
enum terminal_key {
	TERMINAL_NO_KEY = -1,
	TERMINAL_GONE = -2, /* there will be no more keys */
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

/* Are stdin and stdout terminals? */
bool terminal_is_possible(void);
MUST_CHECK struct error *terminal_open(void);
void terminal_close(void);

unsigned terminal_rows(void);
unsigned terminal_columns(void);

/* Nothing is seen before terminal_show(). */
void terminal_clear(void);
/* From a column on; what does not fit is cut off. Text is printable UTF-8. */
void terminal_put(unsigned row, unsigned column, const char *text, enum terminal_style style);
/* Fills a row in this style to its end, from a column on. */
void terminal_fill(unsigned row, unsigned column, enum terminal_style style);
void terminal_show(void);
/* Everything is drawn again by the next terminal_show(), whatever others have written. */
void terminal_redraw(void);

/* The next key that was pressed; does not wait. */
int terminal_key(void);

#endif
