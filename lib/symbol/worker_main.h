/*
 * The main function of a symbol worker's confined process. It reads requests
 * from its channel, runs an engine and sends replies (worker_protocol.h) until
 * the channel is closed.
 */
#ifndef PROF_SYMBOL_WORKER_MAIN_H
#define PROF_SYMBOL_WORKER_MAIN_H

#include "elf/elf_file.h"
#include "sandbox/channel.h"
#include "symbol/source.h"

#include <stdatomic.h>

/* Upper bound of the threads of a worker. */
enum { WORKER_THREADS_MAX = 256 };

enum { WORKER_IN_LIBDW = 1 << 30 };

/*
 * Shared memory through which prof observes a running worker. The worker may
 * write anything into it.
 */
struct worker_state {
	atomic_uint done; /* modules, symbol tables and units, as in thread_pool.h */
	/*
	 * By thread: the request in progress, numbered from 1, or 0 if the
	 * thread is idle. WORKER_IN_LIBDW is added if the thread has called
	 * libdw for it. The upper half is a counter that distinguishes units of
	 * the same module.
	 */
	atomic_uint_least64_t at_work[WORKER_THREADS_MAX];
};

struct worker_main_options {
	/*
	 * Returns the ELF file that the module had when the worker was forked,
	 * or NULL if there is none.
	 */
	struct elf_file *(*file_of)(void *user, uint32_t module);
	void *user;
	struct source_options source;
	unsigned threads; /* at most WORKER_THREADS_MAX */
	struct worker_state *state;
};

/* `user` is the struct worker_main_options. */
void worker_main(struct channel *channel, void *user);

#endif
