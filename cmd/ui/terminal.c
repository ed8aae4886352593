#include "cmd/ui/terminal.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "cmd/ui/terminal_restore.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An Escape that nothing follows within this time is the Escape key. */
enum { ESCAPE_MS = 25 };

/* Pair i + 1 is the ANSI colour i: curses numbers pairs from 1. */
enum { COLOURS = 8 };

static bool is_open, has_colours;
static SCREEN *terminal;

bool terminal_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Names are UTF-8. Nearly every terminal understands it, even if the locale is
 * not set. */
static void choose_characters(void)
{
#ifndef PROF_STATIC /* other encodings would need converters that are loaded at run time */
	setlocale(LC_CTYPE, "");
#endif
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static void choose_colours(void)
{
	has_colours = colour_is_used(COLOUR_AUTO) && has_colors() && start_color() == OK;
	if (!has_colours)
		return;
	use_default_colors();
	for (int i = 0; i < COLOURS; i++)
		init_pair((short)(i + 1), (short)i, -1);
}

#ifdef PROF_STATIC
/*
 * Uses the built-in description of a terminal type, for roots without
 * /usr/share/terminfo.
 */
static SCREEN *open_known_type(const char *name)
{
	static const struct {
		const char *name, *description;
	} types[] = {
#include "terminal_types.inc"
	};

	SCREEN *screen = NULL;

	for (size_t i = 0; name && i < ARRAY_SIZE(types); i++) {
		if (strcmp(types[i].name, name) != 0)
			continue;
		setenv("TERMINFO", types[i].description, 1);
		screen = newterm(NULL, stdout, stdin);
		unsetenv("TERMINFO"); /* the recorded command must not inherit it */
	}
	return screen;
}
#else
static SCREEN *open_known_type(const char *name)
{
	(void)name;
	return NULL;
}
#endif

struct error *terminal_open(void)
{
	const char *name = getenv("TERM");

	choose_characters();
	terminal_restore_save();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		terminal = open_known_type(name);
	if (!terminal)
		return error_hint(
			error_new("unknown terminal type \"%s\"", name ? name : ""),
			"try TERM=xterm-256color, or print tables as text with prof top -b");
	is_open = true;
	atexit(terminal_close);
	terminal_restore_arm();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	choose_colours();
	return NULL;
}

void terminal_close(void)
{
	if (!is_open)
		return;
	is_open = false;
	endwin();
	delscreen(terminal);
	terminal_restore_disarm();
}

unsigned terminal_rows(void)
{
	return (unsigned)getmaxy(stdscr);
}

unsigned terminal_columns(void)
{
	return (unsigned)getmaxx(stdscr);
}

void terminal_clear(void)
{
	erase();
}

static attr_t terminal_attributes_of(enum style style)
{
	struct style_look look = style_look(style);
	attr_t attributes = A_NORMAL;

	if (look.bold)
		attributes |= A_BOLD;
	if (look.faint)
		attributes |= A_DIM;
	if (look.reverse)
		attributes |= A_REVERSE;
	if (has_colours && look.colour != COLOUR_DEFAULT)
		attributes |= (attr_t)COLOR_PAIR(look.colour + 1);
	return attributes;
}

/* Returns the part of a text that fits into the columns. The caller frees it. */
static wchar_t *wide_text(const char *text, size_t columns)
{
	struct bytes rest = bytes_of(text, strlen(text));
	wchar_t *wide = xreallocarray(NULL, bytes_left(&rest) + 1, sizeof(*wide)), *to = wide;

	while (bytes_left(&rest)) {
		uint32_t character = utf8_next(&rest);
		size_t width = printable_width(character);

		if (width > columns)
			break;
		columns -= width;
		*to++ = (wchar_t)character;
	}
	*to = L'\0';
	return wide;
}

void terminal_put(unsigned row, unsigned column, const char *text, enum style style)
{
	CLEANUP(free_ptr) wchar_t *wide = NULL;

	if (row >= terminal_rows() || column >= terminal_columns())
		return;
	wide = wide_text(text, terminal_columns() - column);
	attrset((int)terminal_attributes_of(style));
	mvaddwstr((int)row, (int)column, wide);
	attrset(A_NORMAL);
}

void terminal_fill(unsigned row, unsigned column, enum style style)
{
	if (row >= terminal_rows() || column >= terminal_columns())
		return;
	attrset((int)terminal_attributes_of(style));
	mvhline((int)row, (int)column, ' ', (int)(terminal_columns() - column));
	attrset(A_NORMAL);
}

void terminal_show(void)
{
	refresh();
}

void terminal_redraw(void)
{
	clearok(stdscr, TRUE);
}

static bool terminal_is_gone(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int terminal_key(void)
{
	static const struct {
		int curses, key;
	} names[] = {
		{KEY_RESIZE, TERMINAL_RESIZED},
		{KEY_UP, TERMINAL_UP},
		{KEY_DOWN, TERMINAL_DOWN},
		{KEY_LEFT, TERMINAL_LEFT},
		{KEY_RIGHT, TERMINAL_RIGHT},
		{KEY_PPAGE, TERMINAL_PAGE_UP},
		{KEY_NPAGE, TERMINAL_PAGE_DOWN},
		{KEY_HOME, TERMINAL_HOME},
		{KEY_END, TERMINAL_END},
		{KEY_ENTER, TERMINAL_ENTER},
		{'\r', TERMINAL_ENTER},
		{'\n', TERMINAL_ENTER},
		{KEY_BACKSPACE, TERMINAL_BACKSPACE},
		{0x7f, TERMINAL_BACKSPACE},
		{'\b', TERMINAL_BACKSPACE},
		{0x1b, TERMINAL_ESCAPE},
	};
	int key = getch();

	if (key == ERR)
		return terminal_is_gone() ? TERMINAL_GONE : TERMINAL_NO_KEY;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].curses == key)
			return names[i].key;
	/* Function keys and other special keys are not used. */
	return key < KEY_MIN ? key : TERMINAL_NO_KEY;
}
