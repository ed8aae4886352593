/*
 * One file to request from debuginfod servers, and the result.
 */
#ifndef PROF_DEBUGINFOD_DOWNLOAD_H
#define PROF_DEBUGINFOD_DOWNLOAD_H

#include "base/cleanup.h"
#include "elf/build_id.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum size of a file in the cache. A file that a server announces as larger
 * is not downloaded. */
#define DOWNLOAD_BYTES_MAX (UINT64_C(2) << 30)

enum download_state {
	DOWNLOAD_WAITING,
	DOWNLOAD_RUNNING,
	DOWNLOAD_DONE,
	DOWNLOAD_FAILED,
};

struct download {
	struct build_id build_id;
	/* A source file of the program, with its name in DWARF; NULL to request
	 * the debug file. */
	const char *source;

	/* Results. The contents of the file come from the server and are
	 * untrusted. */
	enum download_state state;
	/* For DOWNLOAD_FAILED: an errno. ENOENT means that no server has the
	 * file. */
	int error;
	uint64_t bytes;	      /* bytes so far; for DONE the size of the file */
	uint64_t total_bytes; /* reported by the server; 0 if unknown */
	bool is_from_cache;   /* for DONE: no server was contacted */
	/* For DONE: descriptor of a regular file; otherwise -1. */
	int fd;
	char *path; /* for DONE: path of the file in the cache */
	/* For DONE: URL of the file; NULL if is_from_cache is set. */
	char *url;
};

void download_deinit(struct download *download);

#endif
