/*
 * The symbol workers for the files of one owner: a file that damages or delays its worker costs
 * symbols of that owner only, and of his files only its own.
 *
 * All modules go to one worker, on all CPUs. If it dies or takes too long, what it was at work on
 * is suspect: the other modules get a new worker, and each suspect then one for itself, which
 * settles whether it was to blame; one that was in libdw is read without libdw then. A worker knows
 * the files that were open when it was started; files that are newer get a newer worker. Of three
 * workers the first is kept when there is need of another one: it has read what all programs share.
 */
#ifndef PROF_SYMBOL_CREW_H
#define PROF_SYMBOL_CREW_H

#include "symbol/worker.h"

struct crew_options {
	uid_t uid; /* of the workers, if we are root */
	uint64_t memory_bytes;
	unsigned threads;
	struct source_options source; /* `again`: workers are kept for the next run */
	/* The ELF files that are open now, by module below file_count(). */
	struct elf_file *(*file_of)(void *user, uint32_t module);
	uint32_t (*file_count)(void *user);
	void *user;
	/*
	 * Whether this process may do the work if the kernel provides no worker: if it has no more
	 * rights than the owner.
	 */
	bool may_stand_in;
};

struct crew;

struct crew *crew_new(const struct crew_options *options);
void crew_free(struct crew *crew);
DEFINE_CLEANUP(crew, crew_free)

struct crew_run {
	const struct engine_request *const *requests;
	size_t count;
	struct worker_limits limits; /* run_cpu_ns is for all workers together */
	const atomic_bool *cancel;   /* as in struct worker_run */
	atomic_uint *done;
	void (*between)(void *user);
	void *between_user;
	/* Unless cancelled, one of them is called for each request. Takes reply or why. */
	void (*finished)(void *user, size_t request, struct reply *reply);
	void (*lost)(void *user, size_t request, char *why);
	void *user;
};

void crew_run(struct crew *crew, struct crew_run *run);

/* So far. The memory is of those that have ended. */
struct worker_cost crew_cost(const struct crew *crew);

#endif
