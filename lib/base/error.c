#include "base/error.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <string.h>

struct error {
	char *text;
	char *hint;
	int number;
	bool is_usage;
};

static struct error *error_take(char *text, int number)
{
	struct error *err = xcalloc(1, sizeof(*err));

	err->text = text;
	err->number = number;
	return err;
}

struct error *error_new(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	return error_take(text, 0);
}

struct error *error_errno(int number, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *doing = NULL;
	va_list args;

	va_start(args, fmt);
	doing = xvasprintf(fmt, args);
	va_end(args);
	return error_take(xasprintf("%s: %s", doing, strerror(number)), number);
}

struct error *error_wrap(struct error *err, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *doing = NULL;
	va_list args;
	char *text;

	if (!err)
		return NULL;
	va_start(args, fmt);
	doing = xvasprintf(fmt, args);
	va_end(args);
	text = xasprintf("%s: %s", doing, err->text);
	free(err->text);
	err->text = text;
	return err;
}

struct error *error_hint(struct error *err, const char *fmt, ...)
{
	va_list args;

	if (!err || err->hint)
		return err;
	va_start(args, fmt);
	err->hint = xvasprintf(fmt, args);
	va_end(args);
	return err;
}

struct error *error_usage(struct error *err)
{
	if (err)
		err->is_usage = true;
	return err;
}

const char *error_text(const struct error *err)
{
	return err->text;
}

const char *error_hint_text(const struct error *err)
{
	return err->hint;
}

int error_number(const struct error *err)
{
	return err->number;
}

bool error_is_usage(const struct error *err)
{
	return err->is_usage;
}

void error_free(struct error *err)
{
	if (!err)
		return;
	free(err->text);
	free(err->hint);
	free(err);
}
