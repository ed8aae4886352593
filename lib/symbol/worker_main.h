/*
 * What a symbol worker does, in its confined process: reads requests from its channel, runs an
 * engine, and sends replies (worker_protocol.h), until the channel is closed.
 */
#ifndef PROF_SYMBOL_WORKER_MAIN_H
#define PROF_SYMBOL_WORKER_MAIN_H

#include "elf/elf_file.h"
#include "sandbox/channel.h"
#include "symbol/source.h"

#include <stdatomic.h>

/* More threads than CPUs of one machine are of no use. */
enum { WORKER_THREADS_MAX = 256 };

enum { WORKER_IN_LIBDW = 1 << 30 };

/*
 * What prof sees of a worker while it works, in memory that both share; the worker may write
 * anything into it.
 */
struct worker_state {
	atomic_uint done; /* modules, symbol tables and units, as in thread_pool.h */
	/*
	 * By thread: the request that it works on, from 1; 0: none; with WORKER_IN_LIBDW if it has
	 * called libdw for it. The upper half counts, so that two units of a module differ.
	 */
	atomic_uint_least64_t at_work[WORKER_THREADS_MAX];
};

struct worker_main_options {
	/* The ELF file of a module when the worker was forked; NULL: none. */
	struct elf_file *(*file_of)(void *user, uint32_t module);
	void *user;
	struct source_options source;
	unsigned threads; /* at most WORKER_THREADS_MAX */
	struct worker_state *state;
};

/* user: the options. */
void worker_main(struct channel *channel, void *user);

#endif
