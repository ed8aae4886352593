/*
 * Interface to fetch debug files that are not on this machine. The symbolizer
 * uses it for modules that lack names or lines.
 */
#ifndef PROF_SYMBOL_FETCHER_H
#define PROF_SYMBOL_FETCHER_H

#include "elf/build_id.h"

#include <stddef.h>
#include <stdint.h>

struct fetch_wish {
	/*
	 * Build-id of the module, or of the supplementary file of its debug
	 * file.
	 */
	struct build_id build_id;
	const char *name; /* path of the module, for messages */

	/*
	 * Results, owned by the symbolizer. The file is untrusted, including
	 * its build-id.
	 */
	int fd;	    /* a regular file, or -1 if it was not fetched */
	char *path; /* its path, or NULL if it was not fetched */
};

struct fetcher {
	/*
	 * Fetches the files, and returns when all downloads have ended. The
	 * wishes are sorted by the number of samples that they affect,
	 * descending. Called at most twice per run.
	 */
	void (*fetch)(void *user, struct fetch_wish *wishes, size_t count);
	void *user;
};

#endif
