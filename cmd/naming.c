#include "cmd/naming.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct naming {
	struct profile *profile;
	struct spaces *spaces;
	struct symbolize_options options;
	struct symbolize_outcome outcome;
	atomic_bool cancel;
	atomic_uint done;
	int done_fd;
	bool has_thread;
	pthread_t thread;
};

static void *name_all(void *user)
{
	struct naming *naming = user;

	symbolize(naming->profile, naming->spaces, &naming->options, &naming->outcome);
	eventfd_write(naming->done_fd, 1);
	return NULL;
}

struct naming *naming_start(struct profile *profile, struct spaces *spaces,
			    const struct symbolize_options *options)
{
	struct naming *naming = xcalloc(1, sizeof(*naming));

	naming->profile = profile;
	naming->spaces = spaces;
	naming->options = *options;
	naming->options.cancel = &naming->cancel;
	naming->options.done = &naming->done;
	naming->done_fd = eventfd(0, EFD_CLOEXEC);
	/* Without a thread, or without a descriptor to tell its end by, at once. */
	naming->has_thread = naming->done_fd >= 0 &&
			     pthread_create(&naming->thread, NULL, name_all, naming) == 0;
	if (!naming->has_thread)
		name_all(naming);
	return naming;
}

int naming_fd(const struct naming *naming)
{
	return naming->done_fd;
}

unsigned naming_progress(const struct naming *naming)
{
	return atomic_load(&naming->done);
}

void naming_cancel(struct naming *naming)
{
	atomic_store(&naming->cancel, true);
}

void naming_finish(struct naming *naming, struct symbolize_outcome *ret)
{
	if (naming->has_thread)
		pthread_join(naming->thread, NULL);
	if (naming->done_fd >= 0)
		close(naming->done_fd);
	*ret = naming->outcome;
	free(naming);
}
