/*
 * Decides which debug files to fetch (fetcher.h): first those of modules that
 * lack the names or lines of at least 1 % of the samples, in descending order;
 * then the supplementary files (dwz) that these files or debug files of this
 * machine refer to.
 */
#ifndef PROF_SYMBOL_FETCHING_H
#define PROF_SYMBOL_FETCHING_H

#include "symbol/fetched_files.h"
#include "symbol/fetcher.h"

#include <stdint.h>

/* A module that lacks names or lines. */
struct fetching_module {
	const struct build_id *build_id;
	const char *path;
	bool is_complete; /* its own debug file would add nothing */
	struct fetched_opener *opener;
	uint64_t samples; /* samples that lack names or lines of the module */
	uint32_t index;	  /* reserved for the caller */
	bool is_renewed;  /* result: a file was fetched for it in this round */
};

struct fetching {
	struct fetcher fetcher;
	struct fetched_files *files;
	struct fetching_module *modules;
	size_t count;
};

/*
 * Each later round fetches the supplementary files that the previous one has
 * discovered.
 */
enum { FETCHING_ROUNDS = 2 };

/*
 * Drops the modules that affect too few of the samples, and sorts the others.
 */
void fetching_select(struct fetching *fetching, uint64_t samples);
/* Fetches the missing files. Returns false if no new file was fetched. */
bool fetching_round(struct fetching *fetching);

#endif
