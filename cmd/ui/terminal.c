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

/* Names are UTF-8, and nearly every terminal is, even if the locale is not set. */
static void choose_characters(void)
{
#ifndef PROF_STATIC /* other characters than UTF-8 would need converters to be loaded */
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

struct error *terminal_open(void)
{
	const char *name = getenv("TERM");

	choose_characters();
	terminal_restore_save();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return error_hint(error_new("unknown terminal type \"%s\"", name ? name : ""),
				  "prof top -b prints tables as text");
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

static attr_t attributes_of(enum style style)
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

/* The number of bytes of a text that fit into the columns. */
static size_t bytes_that_fit(const char *text, size_t columns)
{
	struct bytes rest = bytes_of(text, strlen(text));
	const unsigned char *end = rest.at;

	while (bytes_left(&rest)) {
		size_t width = printable_width(utf8_next(&rest));

		if (width > columns)
			break;
		columns -= width;
		end = rest.at;
	}
	return (size_t)(end - (const unsigned char *)text);
}

void terminal_put(unsigned row, unsigned column, const char *text, enum style style)
{
	if (row >= terminal_rows() || column >= terminal_columns())
		return;
	attrset((int)attributes_of(style));
	mvaddnstr((int)row, (int)column, text,
		  (int)bytes_that_fit(text, terminal_columns() - column));
	attrset(A_NORMAL);
}

void terminal_fill(unsigned row, unsigned column, enum style style)
{
	if (row >= terminal_rows() || column >= terminal_columns())
		return;
	attrset((int)attributes_of(style));
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

static bool is_gone(void)
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
		return is_gone() ? TERMINAL_GONE : TERMINAL_NO_KEY;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].curses == key)
			return names[i].key;
	/* Function keys and other special keys have no meaning. */
	return key < KEY_MIN ? key : TERMINAL_NO_KEY;
}
