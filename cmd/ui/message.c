#include "cmd/ui/message.h"

#include "base/alloc.h"
#include "base/printable.h"
#include "cmd/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* True if prof has written the last line on the terminal and may erase it.
 * Output of the command is never erased. */
static bool has_progress;

void message_progress_end(void)
{
	if (has_progress)
		fputs("\r\033[K", stderr);
	has_progress = false;
}

/* Writes each line with one call, so that lines do not mix with output of the
 * command. */
static void message_write_line(const char *prefix, const char *text, const char *end)
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
	message_write_line("prof: ", text, "\n");
}

void message_row(const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	message_write_line("", text, "\n");
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

int message_failure(struct error *err)
{
	return message_failure_as(err, error_is_usage(err) ? STATUS_USAGE : STATUS_FAILED);
}

int message_failure_as(struct error *err, int status)
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
	message_write_line("", text, "");
	has_progress = true;
}
