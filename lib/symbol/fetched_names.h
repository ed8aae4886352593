/*
 * Names and lines from debug files that are not on this machine: fetches those of modules that lack
 * some (fetching.h says which), and asks workers of their own about these modules again.
 *
 * A fetched file can cost names of modules for which files were fetched, no others. The inquiry of
 * a module whose file is of no use says so (`refused`), and keeps what it had.
 */
#ifndef PROF_SYMBOL_FETCHED_NAMES_H
#define PROF_SYMBOL_FETCHED_NAMES_H

#include "symbol/fetched_files.h"
#include "symbol/fetcher.h"
#include "symbol/inquiries.h"

#include <stdatomic.h>

/* All borrowed. */
struct fetched_names_run {
	struct inquiries *inquiries; /* answered once */
	const struct profile *profile;
	const struct address_spaces *spaces;
	struct fetcher fetcher;
	struct fetched_files *files;	   /* those that the inquiries' openers look in */
	bool names_only;		   /* lines and inlined functions are not looked up */
	const struct crews_options *crews; /* for the workers */
	const atomic_bool *cancel;	   /* as in struct crews_run */
	atomic_uint *done;
};

/* Returns what the workers cost. */
struct worker_cost fetched_names_run(const struct fetched_names_run *run);

#endif
