/*
 * Symbolizes in confined workers, apart by the owners of the files: whoever writes a file that
 * damages, delays or deceives its worker does so to his own names only.
 *
 * Files that only root and prof's user can write to are trusted with each other, and come first.
 * Then come the other owners, those with the most work first, each with a crew (crew.h) of his
 * own; those for whom there is none left share one. As root, workers become nobody, whom no owner
 * of a file can signal or slow down; under sudo, those for the caller's and root's files become
 * the caller.
 *
 * Limits are of CPU time, so a busy machine changes nothing: 10 s and 1 s per 100 MB of files for
 * trusted ones; for the others together the same, of which each has his share, but 2 s at least.
 */
#ifndef PROF_SYMBOL_CREWS_H
#define PROF_SYMBOL_CREWS_H

#include "elf/file_origin.h"
#include "symbol/crew.h"

/* Zero: the default. Others are for tests, which do not want to wait. */
struct crews_limits {
	uint64_t run_cpu_ns, standstill_ns, foreign_memory_bytes;
};

struct crews_options {
	struct crew_options crew; /* uid, memory and may_stand_in are chosen here */
	/*
	 * The user for whom root's prof runs (sudo), whose files are no burden; 0: unknown.
	 */
	uid_t caller;
	struct crews_limits limits;
};

struct crews_request {
	struct engine_request request;
	struct file_origin origin; /* of its file */
	size_t weight;		   /* the number of frames */
};

struct crews;

struct crews *crews_new(const struct crews_options *options);
void crews_free(struct crews *crews);
DEFINE_CLEANUP(crews, crews_free)

struct crews_run {
	const struct crews_request *requests;
	size_t count;
	const atomic_bool *cancel; /* these and the callbacks as in struct crew_run */
	atomic_uint *done;
	void (*between)(void *user);
	void *between_user;
	void (*finished)(void *user, size_t request, struct reply *reply);
	void (*lost)(void *user, size_t request, char *why);
	void *user;
};

void crews_run(struct crews *crews, const struct crews_run *run);

/* As crew_cost(), of all of them. */
struct worker_cost crews_cost(const struct crews *crews);

#endif
