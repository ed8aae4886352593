#include "cmd/completion.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "cmd/naming.h"

#include <poll.h>

enum { PROGRESS_MS = 200 };

/* A signal cuts it short: addresses are written then, and the profile is not lost. */
static void name_frames(const struct completion *completion, struct symbolize_outcome *ret)
{
	struct symbolize_options options = {
		.debug_dir = completion->debug_dir,
		.proc = completion->proc,
		.inlines = completion->inlines,
	};
	struct naming *naming = naming_start(completion->profile, completion->spaces, &options);
	struct pollfd fds[] = {
		{.fd = naming_fd(naming), .events = POLLIN},
		{.fd = completion->signals ? completion->signals->fd : -1, .events = POLLIN}};
	struct received_signal signal;

	while (!fds[0].revents && naming_fd(naming) >= 0) {
		poll(fds, ARRAY_SIZE(fds), PROGRESS_MS);
		if (fds[1].revents && signals_next(completion->signals, &signal) &&
		    signal.number != SIGUSR2)
			naming_cancel(naming);
		if (completion->shows_progress)
			message_progress("naming: %u units", naming_progress(naming));
	}
	message_progress_end();
	naming_finish(naming, ret);
}

void profile_complete(const struct completion *completion, struct completeness *ret)
{
	CLEANUP(free_ptr) char *line = NULL;
	struct profile_info info = completion->info;

	session_finish(completion->session);
	name_frames(completion, &ret->naming);
	quality_init(&ret->quality, completion->profile, session_counts(completion->session));
	line = quality_line(&ret->quality);
	info.quality = line;
	profile_set_info(completion->profile, &info);
}

void completeness_deinit(struct completeness *completeness)
{
	quality_deinit(&completeness->quality);
	symbolize_outcome_deinit(&completeness->naming);
}
