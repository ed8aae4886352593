/*
 * Decides which debug files are fetched (fetcher.h): those of modules that lack the names or lines
 * of at least 1 % of the samples, the costliest first; then the supplementary files (dwz) that
 * these, or debug files of this machine, refer to.
 */
#ifndef PROF_SYMBOL_FETCHING_H
#define PROF_SYMBOL_FETCHING_H

#include "symbol/fetched_files.h"
#include "symbol/fetcher.h"

#include <stdint.h>

/* A module that lacks something. */
struct fetching_module {
	const struct build_id *build_id;
	const char *path;
	bool is_complete; /* its own debug file would bring nothing new */
	struct fetched_opener *opener;
	uint64_t samples; /* that lack its names or lines */
	uint32_t index;	  /* the caller's */
	bool is_renewed;  /* result: a file of it was fetched in this round */
};

struct fetching {
	struct fetcher fetcher;
	struct fetched_files *files;
	struct fetching_module *modules;
	size_t count;
};

/* Each round after the first is for the supplementary files that the last has shown. */
enum { FETCHING_ROUNDS = 2 };

/* Drops the modules that are not worth it, and orders the others. */
void fetching_select(struct fetching *fetching, uint64_t samples);
/* Fetches what is missing. False: nothing new has come. */
bool fetching_round(struct fetching *fetching);

#endif
