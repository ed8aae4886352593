#include "cmd/record_messages.h"

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

static void print(void *user, const char *text)
{
	(void)user;
	message("%s", text);
}

struct listener record_messages(bool notices, bool progress)
{
	return (struct listener){
		.progress = progress ? print_progress : NULL,
		.notice = notices ? print : NULL,
		.problem = print,
	};
}
