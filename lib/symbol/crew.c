#include "symbol/crew.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/* Whatever limit the user has set: demangle() asks for 4 MiB. Untouched, it costs nothing. */
enum { STACK_BYTES = 8 * 1024 * 1024 };

struct shift {
	const struct crew *crew;
	size_t items;
	crew_work *work;
	void *context;
	atomic_size_t next;
};

struct member {
	struct shift *shift;
	unsigned number;
	pthread_t thread;
};

static bool is_cancelled(const struct crew *crew)
{
	return crew->cancel && atomic_load(crew->cancel);
}

static void *run_member(void *context)
{
	struct member *member = context;
	struct shift *shift = member->shift;
	size_t item;

	while (!is_cancelled(shift->crew)) {
		item = atomic_fetch_add(&shift->next, 1);
		if (item >= shift->items)
			break;
		shift->work(shift->context, item, member->number);
		if (shift->crew->done)
			atomic_fetch_add(shift->crew->done, 1);
		if (shift->crew->between && shift->crew->threads == 1)
			shift->crew->between(shift->crew->user);
	}
	return NULL;
}

/* The number of members that were started. */
static unsigned start(struct member *members, unsigned count)
{
	pthread_attr_t attr;
	unsigned started = 0;

	if (pthread_attr_init(&attr))
		return 0;
	if (!pthread_attr_setstacksize(&attr, STACK_BYTES))
		while (started < count && !pthread_create(&members[started].thread, &attr,
							  run_member, &members[started]))
			started++;
	pthread_attr_destroy(&attr);
	return started;
}

void crew_run(const struct crew *crew, size_t items, crew_work *work, void *context)
{
	struct shift shift = {.crew = crew, .items = items, .work = work, .context = context};
	unsigned count = items < crew->threads ? (unsigned)items : crew->threads;
	struct member *members = xcalloc(count, sizeof(*members));
	unsigned started;

	for (unsigned i = 0; i < count; i++)
		members[i] = (struct member){.shift = &shift, .number = i};
	started = start(members, count);
	if (count && !started)
		run_member(&members[0]);
	for (unsigned i = 0; i < started; i++)
		pthread_join(members[i].thread, NULL);
	free(members);
}
