/*
 * Adds names and lines from debug files that are not on this machine. It
 * fetches the debug files of modules that lack names or lines (selected by
 * fetching.h) and symbolizes these modules again in separate workers.
 *
 * A bad fetched file can affect the names of modules with fetched files only.
 * If the file of a module is useless, the module's symbol request records this
 * in `refused` and keeps its previous reply.
 */
#ifndef PROF_SYMBOL_FETCHED_NAMES_H
#define PROF_SYMBOL_FETCHED_NAMES_H

#include "symbol/fetched_files.h"
#include "symbol/fetcher.h"
#include "symbol/symbol_requests.h"

#include <stdatomic.h>

/* All pointers are borrowed. */
struct fetched_names_run {
	struct symbol_requests *requests; /* already answered once */
	const struct profile *profile;
	const struct address_spaces *spaces;
	struct fetcher fetcher;
	struct fetched_files *files; /* searched by the openers of the symbol requests */
	bool names_only;	     /* lines and inlined functions are not looked up */
	const struct worker_pools_options *pools; /* for the workers */
	const atomic_bool *cancel;		  /* like in struct worker_pools_run */
	atomic_uint *done;
};

/* Returns the cost of the workers. */
struct worker_cost fetched_names_run(const struct fetched_names_run *run);

#endif
