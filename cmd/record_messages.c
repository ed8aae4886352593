#include "cmd/record_messages.h"

#include "base/alloc.h"
#include "cmd/ui/message.h"

#include <inttypes.h>

static void print_progress(void *user, enum progress kind, uint64_t count)
{
	(void)user;
	switch (kind) {
	case PROGRESS_READ:
		message_progress("reading: %" PRIu64 " samples", count);
		break;
	case PROGRESS_SYMBOLIZED:
		message_progress("symbolizing: %" PRIu64 " units", count);
		break;
	}
}

static void print_downloading(void *user, const struct download_progress *progress)
{
	CLEANUP(free_ptr) char *others = NULL, *what = NULL;

	(void)user;
	others = progress->others ? xasprintf(", and %zu more", progress->others) : xstrdup("");
	if (progress->total_bytes)
		what = xasprintf("%s %.0f of %.0f MB", progress->name,
				 (double)progress->bytes / 1e6,
				 (double)progress->total_bytes / 1e6);
	else
		what = xasprintf("asking for %s", progress->name);
	message_progress("downloading debug information: %s%s (Ctrl-C goes on without)", what,
			 others);
}

static void print(void *user, const char *text)
{
	(void)user;
	message("%s", text);
}

struct listener record_messages(bool notices, bool progress)
{
	return (struct listener){
		.progress = progress ? print_progress : NULL,
		.downloading = notices || progress ? print_downloading : NULL,
		.notice = notices ? print : NULL,
		.problem = print,
	};
}
