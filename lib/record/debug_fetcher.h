/*
 * Downloads debug files from debuginfod servers for a symbolizer
 * (symbol/fetcher.h), within a time limit for all downloads, and reports the
 * results.
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
	struct symbol_options symbols; /* the servers and the time limit */
	uid_t caller;		       /* as in symbolize_options */
	atomic_bool *cancel;	       /* cancels a running download, which resets it */
};

struct debug_fetcher;

/* Whether an option or the environment names servers. */
bool debug_fetcher_has_servers(const struct symbol_options *symbols);
/* The time limit for all downloads. */
uint64_t debug_fetcher_limit_ns(const struct symbol_options *symbols);

/* Returns NULL if no server is configured. */
struct debug_fetcher *debug_fetcher_new(const struct debug_fetcher_options *options);
void debug_fetcher_free(struct debug_fetcher *fetcher);
DEFINE_CLEANUP(debug_fetcher, debug_fetcher_free)

/* Returns callbacks for symbolize_options, which borrow the fetcher. For NULL,
 * returns none. */
struct fetcher debug_fetcher_callbacks(struct debug_fetcher *fetcher);

/* Reports the progress of downloads. May be called from another thread than the
 * symbolizer's. Returns false if no download is running. */
bool debug_fetcher_say_progress(struct debug_fetcher *fetcher, const struct listener *listener);
/* Reports what was downloaded and what failed. Must be called after the last
 * download. Does nothing for NULL. */
void debug_fetcher_report(const struct debug_fetcher *fetcher, const struct listener *listener);

#endif
