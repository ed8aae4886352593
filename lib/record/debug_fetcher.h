/*
 * Downloads debug files for a symbolizer (symbol/fetcher.h) from debuginfod servers, within a
 * limit of time for all of them, and says what has become of it.
 */
#ifndef PROF_RECORD_DEBUG_FETCHER_H
#define PROF_RECORD_DEBUG_FETCHER_H

#include "record/listener.h"
#include "symbol/fetcher.h"
#include "symbol/symbol_options.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct debug_fetcher_options {
	struct symbol_options symbols; /* where from, and how long */
	uid_t caller;		       /* as in symbolize_options */
	atomic_bool *cancel;	       /* ends a download, which resets it */
};

struct debug_fetcher;

/* Whether an option or the environment names servers. */
bool debug_fetcher_has_servers(const struct symbol_options *symbols);
/* How long all downloads may take. */
uint64_t debug_fetcher_limit_ns(const struct symbol_options *symbols);

/* NULL if no server is to be asked. */
struct debug_fetcher *debug_fetcher_new(const struct debug_fetcher_options *options);
void debug_fetcher_free(struct debug_fetcher *fetcher);
DEFINE_CLEANUP(debug_fetcher, debug_fetcher_free)

/* For symbolize_options; NULL gives none. Borrows. */
struct fetcher debug_fetcher_callbacks(struct debug_fetcher *fetcher);

/* For another thread than the symbolizer's: false if nothing is being downloaded. */
bool debug_fetcher_say_progress(struct debug_fetcher *fetcher, const struct listener *listener);
/* At the end: what was downloaded, and what could not be. NULL: nothing. */
void debug_fetcher_report(const struct debug_fetcher *fetcher, const struct listener *listener);

#endif
