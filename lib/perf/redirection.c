#include "perf/redirection.h"

static void *run(void *user)
{
	struct redirection *redirection = user;
	const struct descriptors *descriptors = redirection->descriptors;

	for (size_t i = 0; i < descriptors->samples.count; i++) {
		if (atomic_load(&redirection->is_given_up))
			break;
		descriptors_redirect(descriptors, i, redirection->rings);
	}
	return NULL;
}

void redirection_begin(struct redirection *redirection, const struct descriptors *descriptors,
		       const struct ring *rings)
{
	redirection_end(redirection);
	redirection->descriptors = descriptors;
	redirection->rings = rings;
	atomic_store(&redirection->is_given_up, false);
	redirection->is_under_way = pthread_create(&redirection->thread, NULL, run, redirection) ==
				    0;
	if (!redirection->is_under_way)
		run(redirection);
}

void redirection_await(struct redirection *redirection)
{
	if (redirection->is_under_way)
		pthread_join(redirection->thread, NULL);
	redirection->is_under_way = false;
}

void redirection_end(struct redirection *redirection)
{
	atomic_store(&redirection->is_given_up, true);
	redirection_await(redirection);
}
