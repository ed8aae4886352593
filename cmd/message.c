#include "cmd/message.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

/* The one thing to be remembered: only a line of our own may be wiped off, not what a command has
 * left on the terminal. */
static bool has_progress;

void message_progress_end(void)
{
	if (has_progress)
		fputs("\r\033[K", stderr);
	has_progress = false;
}

/* One write a line, so that it does not mix with what the command prints. C1 controls are two bytes
 * in UTF-8: c2 80 to c2 9f. */
static void write_line(const char *prefix, char *text, const char *end)
{
	for (unsigned char *at = (unsigned char *)text; *at; at++) {
		if (is_control(*at) && *at != '\t')
			*at = '?';
		else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
			at[0] = at[1] = '?';
	}
	message_progress_end();
	fprintf(stderr, "%s%s%s", prefix, text, end);
}

void message(const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	write_line("prof: ", text, "\n");
}

void message_row(const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	write_line("", text, "\n");
}

void message_error(struct error *err)
{
	message("%s", error_text(err));
	for (const char *hint = error_hint_text(err); hint; hint = strchr(hint, '\n')) {
		hint += *hint == '\n';
		message_row("  %.*s", (int)strcspn(hint, "\n"), hint);
	}
	error_free(err);
}

int message_failure(struct error *err, int status)
{
	message_error(err);
	return status;
}

unsigned message_columns(void)
{
	struct winsize size = {0};

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void message_progress(const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	if (!isatty(STDERR_FILENO))
		return;
	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	write_line("", text, "");
	has_progress = true;
}
