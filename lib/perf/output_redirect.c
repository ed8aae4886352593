#include "perf/output_redirect.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>

/* All threads can wait for the same grace period. */
enum { THREADS_MAX = 16 };

struct output_redirect {
	const struct fd_list *descriptors;
	const struct ring *rings;
	atomic_size_t next;
	atomic_size_t done;
	pthread_t threads[THREADS_MAX];
	size_t thread_count;
};

static void *redirect(void *context)
{
	struct output_redirect *redirection = context;
	const struct fd_list *list = redirection->descriptors;
	size_t i;

	while ((i = atomic_fetch_add(&redirection->next, 1)) < list->count) {
		ioctl(list->items[i], PERF_EVENT_IOC_SET_OUTPUT,
		      redirection->rings[list->cpus[i]].fd);
		atomic_fetch_add(&redirection->done, 1);
	}
	return NULL;
}

struct output_redirect *output_redirect_begin(const struct fd_list *descriptors,
					      const struct ring *rings)
{
	struct output_redirect *redirection = xcalloc(1, sizeof(*redirection));
	size_t *threads = &redirection->thread_count;

	redirection->descriptors = descriptors;
	redirection->rings = rings;
	while (*threads < THREADS_MAX && *threads < descriptors->count &&
	       pthread_create(&redirection->threads[*threads], NULL, redirect, redirection) == 0)
		++*threads;
	if (!*threads)
		redirect(redirection);
	return redirection;
}

bool output_redirect_is_done(const struct output_redirect *redirection)
{
	return atomic_load(&redirection->done) == redirection->descriptors->count;
}

void output_redirect_end(struct output_redirect *redirection)
{
	if (!redirection)
		return;
	atomic_store(&redirection->next, redirection->descriptors->count);
	for (size_t i = 0; i < redirection->thread_count; i++)
		pthread_join(redirection->threads[i], NULL);
	free(redirection);
}
