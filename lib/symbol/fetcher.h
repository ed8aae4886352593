/*
 * Fetches debug files that are not on this machine, for a symbolizer whose modules lack names or
 * lines.
 */
#ifndef PROF_SYMBOL_FETCHER_H
#define PROF_SYMBOL_FETCHER_H

#include "elf/build_id.h"

#include <stddef.h>
#include <stdint.h>

struct fetch_wish {
	struct build_id build_id; /* of the module, or of its debug file's supplementary file */
	const char *name;	  /* the module's path, for messages */

	/* Results, the symbolizer's. Nothing in the file is believed, its build-id included. */
	int fd;	    /* of a regular file; -1: not fetched */
	char *path; /* where it is; NULL: not fetched */
};

struct fetcher {
	/*
	 * The wishes that cost the most samples are first. Called twice at most per run; returns
	 * when there is nothing more to wait for.
	 */
	void (*fetch)(void *user, struct fetch_wish *wishes, size_t count);
	void *user;
};

#endif
