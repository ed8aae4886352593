#include "symbol/thread_pool.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * Independent of the user's limit, because demangle() needs up to 4 MiB.
 * Untouched pages cost nothing.
 */
enum { STACK_BYTES = 8 * 1024 * 1024 };

struct thread_pool_shift {
	const struct thread_pool *pool;
	size_t items;
	thread_pool_work *work;
	void *context;
	atomic_size_t next;
};

struct thread_pool_member {
	struct thread_pool_shift *shift;
	unsigned number;
	pthread_t thread;
};

static bool thread_pool_is_cancelled(const struct thread_pool *pool)
{
	return pool->cancel && atomic_load(pool->cancel);
}

static void *run_member(void *context)
{
	struct thread_pool_member *member = context;
	struct thread_pool_shift *shift = member->shift;
	size_t item;

	while (!thread_pool_is_cancelled(shift->pool)) {
		item = atomic_fetch_add(&shift->next, 1);
		if (item >= shift->items)
			break;
		shift->work(shift->context, item, member->number);
		if (shift->pool->done)
			atomic_fetch_add(shift->pool->done, 1);
		if (shift->pool->between && shift->pool->threads == 1)
			shift->pool->between(shift->pool->user);
	}
	return NULL;
}

/* Returns the number of threads started. */
static unsigned thread_pool_start(struct thread_pool_member *members, unsigned count)
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

void thread_pool_run(const struct thread_pool *pool, size_t items, thread_pool_work *work,
		     void *context)
{
	struct thread_pool_shift shift = {
		.pool = pool, .items = items, .work = work, .context = context};
	unsigned count = items < pool->threads ? (unsigned)items : pool->threads;
	struct thread_pool_member *members = xcalloc(count, sizeof(*members));
	unsigned started;

	for (unsigned i = 0; i < count; i++)
		members[i] = (struct thread_pool_member){.shift = &shift, .number = i};
	started = thread_pool_start(members, count);
	if (count && !started)
		run_member(&members[0]);
	for (unsigned i = 0; i < started; i++)
		pthread_join(members[i].thread, NULL);
	free(members);
}
