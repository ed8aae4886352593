/* One file that a debuginfod server is asked for, and what has become of it. */
#ifndef PROF_DEBUGINFOD_DOWNLOAD_H
#define PROF_DEBUGINFOD_DOWNLOAD_H

#include "base/cleanup.h"
#include "elf/build_id.h"

#include <stdbool.h>
#include <stdint.h>

/* No file of the cache becomes larger. One that a server announces as larger is not begun. */
#define DOWNLOAD_BYTES_MAX (UINT64_C(2) << 30)

enum download_state {
	DOWNLOAD_WAITING,
	DOWNLOAD_RUNNING,
	DOWNLOAD_DONE,
	DOWNLOAD_FAILED,
};

struct download {
	struct build_id build_id;
	const char *source; /* a source file of that program, as DWARF names it; NULL: its debug
			       file */

	/* Results. Whatever is in the file is the server's, who may be hostile. */
	enum download_state state;
	int error;	      /* DOWNLOAD_FAILED: an errno; ENOENT: no server has it */
	uint64_t bytes;	      /* so far; DONE: the file's size */
	uint64_t total_bytes; /* as the server says; 0: unknown */
	bool is_from_cache;   /* DONE: no server was asked */
	int fd;		      /* DONE: of a regular file; else -1 */
	char *path;	      /* DONE: where the cache has it */
	char *url;	      /* DONE: of the server; NULL: is_from_cache */
};

void download_deinit(struct download *download);

#endif
