/*
 * Manages the symbol workers for the files of one owner. A file that crashes or
 * delays its worker can affect only symbols of that owner, and usually only its
 * own.
 *
 * All modules go to one worker, which uses all CPUs. If it dies or times out,
 * the modules in progress are suspects. The other modules go to a new worker.
 * Then each suspect gets a worker of its own, which shows whether it was the
 * cause. If it was in libdw, it is then read without libdw.
 *
 * A worker knows the files that were open when it was started, so newer files
 * need a newer worker. A pool has at most three workers. When it needs another
 * one, it ends all but the first, which has read the files that all programs
 * share.
 */
#ifndef PROF_SYMBOL_WORKER_POOL_H
#define PROF_SYMBOL_WORKER_POOL_H

#include "symbol/worker.h"

struct worker_pool_options {
	uid_t uid; /* user id of the workers if prof is root */
	uint64_t memory_bytes;
	unsigned threads;
	/* If `again` is set, workers are kept for the next run. */
	struct source_options source;
	/*
	 * The ELF files that are open now, by module. Modules are below
	 * file_count().
	 */
	struct elf_file *(*file_of)(void *user, uint32_t module);
	uint32_t (*file_count)(void *user);
	void *user;
	/*
	 * Whether this process may do the work if the kernel cannot start a
	 * worker. Only allowed if this process has no more privileges than the
	 * owner.
	 */
	bool may_stand_in;
};

struct worker_pool;

struct worker_pool *worker_pool_new(const struct worker_pool_options *options);
void worker_pool_free(struct worker_pool *pool);
DEFINE_CLEANUP(worker_pool, worker_pool_free)

struct worker_pool_run {
	const struct engine_request *const *requests;
	size_t count;
	struct worker_limits limits; /* run_cpu_ns applies to all workers together */
	const atomic_bool *cancel;   /* like in struct worker_run */
	atomic_uint *done;
	void (*between)(void *user);
	void *between_user;
	/*
	 * Unless the run is cancelled, one of these is called for each request.
	 * They take ownership of `reply` and `why`.
	 */
	void (*finished)(void *user, size_t request, struct reply *reply);
	void (*lost)(void *user, size_t request, char *why);
	void *user;
};

void worker_pool_run(struct worker_pool *pool, struct worker_pool_run *run);

/*
 * Returns the cost so far. Peak memory includes only workers that have ended.
 */
struct worker_cost worker_pool_cost(const struct worker_pool *pool);

#endif
