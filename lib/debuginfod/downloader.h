/*
 * Runs a downloader, a child of prof that talks to debuginfod servers. An
 * attack by a server on libdebuginfod or curl then affects only a process that
 * prof can end and that has no more privileges than the user.
 *
 * The child has dropped privileges as sandbox/connected.h describes. If the
 * kernel has Landlock, it can write only to the cache (cache.h,
 * sandbox/landlock.h). client.h defines the messages, which are untrusted.
 */
#ifndef PROF_DEBUGINFOD_DOWNLOADER_H
#define PROF_DEBUGINFOD_DOWNLOADER_H

#include "sandbox/channel.h"

#include <stdbool.h>
#include <sys/types.h>

struct downloader_options {
	/* Separated by blanks; NULL for the environment's DEBUGINFOD_URLS. */
	const char *urls;
	uid_t caller; /* the user who invoked prof through sudo, or 0 */
};

struct downloader;

MUST_CHECK struct error *downloader_start(const struct downloader_options *options,
					  struct downloader **ret);
/* Returns prof's end of the channel, which is non-blocking and borrowed. The
 * downloader's end is reported as CHANNEL_CLOSED. */
struct channel *downloader_channel(const struct downloader *downloader);
/*
 * Ends and frees several downloaders at once; entries may be NULL. They have
 * 100 ms to remove partial files before they are killed.
 */
void downloaders_end(struct downloader **downloaders, size_t count);

#endif
