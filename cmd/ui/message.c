#include "cmd/ui/message.h"

#include "base/alloc.h"
#include "base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* True while the last line on the terminal is ours to erase: never erase output of the command. */
static bool has_progress;

void message_progress_end(void)
{
	if (has_progress)
		fputs("\r\033[K", stderr);
	has_progress = false;
}

/* One write per line, so that lines do not mix with output of the command. */
static void write_line(const char *prefix, const char *text, const char *end)
{
	CLEANUP(free_ptr) char *line = printable(text);

	message_progress_end();
	fprintf(stderr, "%s%s%s", prefix, line, end);
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
