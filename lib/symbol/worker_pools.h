/*
 * Symbolizes in confined workers, separately for each owner of files. A file
 * that crashes, delays or deceives its worker can affect only names of its
 * owner.
 *
 * Files that only root and prof's user can write to share a pool, which runs
 * first. The other owners follow, those with the most work first. Each has its
 * own worker pool (worker_pool.h); if no pool is free, the remaining owners
 * share one. If prof runs as root, workers run as nobody, which no owner of a
 * file can signal or slow down. Under sudo, the workers for the caller's and
 * root's files run as the caller.
 *
 * Limits apply to CPU time, so that the load of the machine has no influence.
 * The trusted pool has 10 s plus 1 s per 100 MB of files. All other owners
 * together have the same limit; each gets an equal share, but at least 2 s.
 */
#ifndef PROF_SYMBOL_WORKER_POOLS_H
#define PROF_SYMBOL_WORKER_POOLS_H

#include "elf/file_origin.h"
#include "symbol/worker_pool.h"

/* Zero for the defaults. Tests set lower values. */
struct worker_pools_limits {
	uint64_t run_cpu_ns, standstill_ns, untrusted_memory_bytes;
};

struct worker_pools_options {
	/* uid, memory and may_stand_in are set by this module */
	struct worker_pool_options pool;
	/*
	 * The user who runs prof as root (sudo). His files are trusted. 0 if
	 * unknown.
	 */
	uid_t caller;
	struct worker_pools_limits limits;
};

struct worker_pools_request {
	struct engine_request request;
	struct file_origin origin; /* origin of its file */
	size_t weight;		   /* the number of frames */
};

struct worker_pools;

struct worker_pools *worker_pools_new(const struct worker_pools_options *options);
void worker_pools_free(struct worker_pools *pools);
DEFINE_CLEANUP(worker_pools, worker_pools_free)

struct worker_pools_run {
	const struct worker_pools_request *requests;
	size_t count;
	/* These and the callbacks are like in struct worker_pool_run. */
	const atomic_bool *cancel;
	atomic_uint *done;
	void (*between)(void *user);
	void *between_user;
	void (*finished)(void *user, size_t request, struct reply *reply);
	void (*lost)(void *user, size_t request, char *why);
	void *user;
};

void worker_pools_run(struct worker_pools *pools, const struct worker_pools_run *run);

/* Returns the cost of all pools, like worker_pool_cost(). */
struct worker_cost worker_pools_cost(const struct worker_pools *pools);

#endif
