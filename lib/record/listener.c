#include "record/listener.h"

#include "base/alloc.h"

void listener_progress(const struct listener *listener, enum progress kind, uint64_t count)
{
	if (listener && listener->progress)
		listener->progress(listener->user, kind, count);
}

void listener_notice(const struct listener *listener, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	if (!listener || !listener->notice)
		return;
	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	listener->notice(listener->user, text);
}

void listener_problem(const struct listener *listener, const char *fmt, ...)
{
	CLEANUP(free_ptr) char *text = NULL;
	va_list args;

	if (!listener || !listener->problem)
		return;
	va_start(args, fmt);
	text = xvasprintf(fmt, args);
	va_end(args);
	listener->problem(listener->user, text);
}
