/*
 * Downloads several files from debuginfod servers, four at a time, within a
 * time limit.
 *
 * libdebuginfod's cache is searched first; elfutils and gdb share it
 * ($DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client,
 * ~/.cache/debuginfod_client). It also remembers for some minutes which files
 * no server has. An unprivileged process does each download (downloader.h), so
 * a server can neither stop nor deceive prof beyond the contents of its files,
 * which are untrusted.
 */
#ifndef PROF_DEBUGINFOD_DOWNLOADS_H
#define PROF_DEBUGINFOD_DOWNLOADS_H

#include "debuginfod/download.h"

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

enum { DOWNLOADS_AT_ONCE = 4 };

enum downloads_end {
	DOWNLOADS_DONE,	     /* each download is DONE or FAILED */
	DOWNLOADS_CANCELLED, /* cancelled: some downloads are WAITING or RUNNING */
	/* Time limit reached: some downloads are WAITING or RUNNING. */
	DOWNLOADS_LATE,
	DOWNLOADS_NO_LIBRARY, /* libdebuginfod is not installed */
};

struct downloads_options {
	const char *urls; /* urls and caller are as in downloader_options */
	uid_t caller;
	uint64_t until_ns;	   /* time limit, by clock_now_ns() */
	const atomic_bool *cancel; /* checked every 10 ms; may be NULL */
	/* Called after each change; may be NULL. */
	void (*progress)(void *user, const struct download *downloads, size_t count);
	void *user;
};

/* Starts the downloads in order. Returns when all have ended. */
enum downloads_end downloads_run(const struct downloads_options *options,
				 struct download *downloads, size_t count);

#endif
