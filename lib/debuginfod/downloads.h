/*
 * Downloads several files from debuginfod servers, four at once, within a time limit.
 *
 * libdebuginfod's cache, which elfutils and gdb share ($DEBUGINFOD_CACHE_PATH,
 * $XDG_CACHE_HOME/debuginfod_client, ~/.cache/debuginfod_client), is asked first, and knows for
 * some minutes what no server has. Each download is done by a process without privileges
 * (downloader.h), so that a server can neither stop nor deceive prof beyond the contents of its
 * files, which are to be treated as hostile.
 */
#ifndef PROF_DEBUGINFOD_DOWNLOADS_H
#define PROF_DEBUGINFOD_DOWNLOADS_H

#include "debuginfod/download.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

enum { DOWNLOADS_AT_ONCE = 4 };

enum downloads_end {
	DOWNLOADS_DONE,	      /* each is DONE or FAILED */
	DOWNLOADS_CANCELLED,  /* these … */
	DOWNLOADS_LATE,	      /* … leave some WAITING or RUNNING */
	DOWNLOADS_NO_LIBRARY, /* libdebuginfod is not installed */
};

struct downloads_options {
	const char *urls; /* these two as in downloader_options */
	uid_t caller;
	uint64_t until_ns;	   /* clock_now_ns() */
	const atomic_bool *cancel; /* looked at every 10 ms; may be NULL */
	/* Called when something has changed; may be NULL. */
	void (*progress)(void *user, const struct download *downloads, size_t count);
	void *user;
};

/* From the first on. Returns when all downloads have ended. */
enum downloads_end downloads_run(const struct downloads_options *options,
				 struct download *downloads, size_t count);

#endif
