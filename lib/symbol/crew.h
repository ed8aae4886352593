/*
 * A crew of threads that works through numbered items, each taking the next one when it is free.
 */
#ifndef PROF_SYMBOL_CREW_H
#define PROF_SYMBOL_CREW_H

#include <stdatomic.h>
#include <stddef.h>

struct crew {
	unsigned threads;
	const atomic_bool *cancel;   /* NULL: never */
	atomic_uint *done;	     /* goes up by one with each item; may be NULL */
	void (*between)(void *user); /* a crew of one: called after each item; may be NULL */
	void *user;
};

/* thread: below crew->threads; of two calls at the same time never the same. */
typedef void crew_work(void *context, size_t item, unsigned thread);

/* Returns when every item was worked on, or soon after *cancel is set. Works in the caller's thread
 * when the system gives no other. */
void crew_run(const struct crew *crew, size_t items, crew_work *work, void *context);

#endif
