/*
 * A pool of threads that works through numbered items; each thread takes the next item when it is
 * free.
 */
#ifndef PROF_SYMBOL_THREAD_POOL_H
#define PROF_SYMBOL_THREAD_POOL_H

#include <stdatomic.h>
#include <stddef.h>

struct thread_pool {
	unsigned threads;
	const atomic_bool *cancel;   /* NULL: never */
	atomic_uint *done;	     /* incremented after each item; may be NULL */
	void (*between)(void *user); /* with one thread: called after each item; may be NULL */
	void *user;
};

/* thread: below pool->threads; never the same in two concurrent calls. */
typedef void thread_pool_work(void *context, size_t item, unsigned thread);

/*
 * Returns when every item is done, or soon after *cancel is set. Works in the caller's thread if
 * no other thread can be created.
 */
void thread_pool_run(const struct thread_pool *pool, size_t items, thread_pool_work *work,
		     void *context);

#endif
