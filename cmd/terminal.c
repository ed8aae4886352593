#include "cmd/terminal.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "cmd/rescue.h"

#include <curses.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An Escape that nothing follows for so long is one. */
enum { ESCAPE_MS = 25 };

enum { PAIR_HOT = 1, PAIR_WARM };

static bool is_open, has_colours;
static SCREEN *terminal;

bool terminal_is_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Names are UTF-8, and so is nearly every terminal, whatever the locale forgets to say. */
static void choose_characters(void)
{
	setlocale(LC_CTYPE, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		setlocale(LC_CTYPE, "C.UTF-8");
}

static bool wants_colours(void)
{
	const char *no_color = getenv("NO_COLOR"), *clicolor = getenv("CLICOLOR");

	return !(no_color && *no_color) && !(clicolor && !strcmp(clicolor, "0"));
}

static void choose_colours(void)
{
	has_colours = wants_colours() && has_colors() && start_color() == OK;
	if (!has_colours)
		return;
	use_default_colors();
	init_pair(PAIR_HOT, COLOR_RED, -1);
	init_pair(PAIR_WARM, COLOR_GREEN, -1);
}

struct error *terminal_open(void)
{
	const char *name = getenv("TERM");

	choose_characters();
	rescue_note_terminal();
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return error_hint(error_new("the terminal \"%s\" is not known", name ? name : ""),
				  "prof top -b prints tables as text");
	is_open = true;
	atexit(terminal_close);
	rescue_arm();
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
	rescue_disarm();
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

static attr_t attributes_of(enum terminal_style style)
{
	switch (style) {
	case TERMINAL_BOLD:
		return A_BOLD;
	case TERMINAL_FAINT:
		return A_DIM;
	case TERMINAL_HOT:
		return has_colours ? A_BOLD | (attr_t)COLOR_PAIR(PAIR_HOT) : A_BOLD;
	case TERMINAL_WARM:
		return has_colours ? (attr_t)COLOR_PAIR(PAIR_WARM) : A_NORMAL;
	case TERMINAL_REVERSE:
		return A_REVERSE;
	case TERMINAL_PLAIN:
		break;
	}
	return A_NORMAL;
}

/* How many bytes of a text fit into so many columns. */
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

void terminal_put(unsigned row, unsigned column, const char *text, enum terminal_style style)
{
	if (row >= terminal_rows() || column >= terminal_columns())
		return;
	attrset((int)attributes_of(style));
	mvaddnstr((int)row, (int)column, text,
		  (int)bytes_that_fit(text, terminal_columns() - column));
	attrset(A_NORMAL);
}

void terminal_fill(unsigned row, unsigned column, enum terminal_style style)
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
	/* Function keys and the like mean nothing here. */
	return key < KEY_MIN ? key : TERMINAL_NO_KEY;
}
