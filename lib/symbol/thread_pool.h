/*
 * Runs numbered items in a pool of threads. Each thread takes the next item
 * when it is free.
 */
#ifndef PROF_SYMBOL_THREAD_POOL_H
#define PROF_SYMBOL_THREAD_POOL_H

#include <stdatomic.h>
#include <stddef.h>

struct thread_pool {
	unsigned threads;
	const atomic_bool *cancel; /* may be NULL */
	atomic_uint *done;	   /* incremented after each item; may be NULL */
	/* with one thread: called after each item; may be NULL */
	void (*between)(void *user);
	void *user;
};

/* `thread` is below pool->threads, and unique among concurrent calls. */
typedef void thread_pool_work(void *context, size_t item, unsigned thread);

/*
 * Returns when all items are done, or soon after *cancel becomes true. Runs in
 * the calling thread if no other thread can be created.
 */
void thread_pool_run(const struct thread_pool *pool, size_t items, thread_pool_work *work,
		     void *context);

#endif
