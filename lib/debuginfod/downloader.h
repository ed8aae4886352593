/*
 * A downloader: a child of prof that talks to debuginfod servers, so that what a server does to
 * libdebuginfod and curl is done to a process that prof can end and that has no more rights than
 * the user.
 *
 * It has given up what sandbox/connected.h says. Where the kernel has Landlock it writes to the
 * cache alone (cache.h, sandbox/landlock.h). Messages: client.h; what it sends is to be treated as
 * hostile.
 */
#ifndef PROF_DEBUGINFOD_DOWNLOADER_H
#define PROF_DEBUGINFOD_DOWNLOADER_H

#include "sandbox/channel.h"

#include <stdbool.h>
#include <sys/types.h>

struct downloader_options {
	const char *urls; /* separated by blanks; NULL: DEBUGINFOD_URLS of the environment */
	uid_t caller;	  /* for whom root's prof runs (sudo); 0: nobody else */
};

struct downloader;

MUST_CHECK struct error *downloader_start(const struct downloader_options *options,
					  struct downloader **ret);
/* Our end, non-blocking; borrowed. Its end shows as CHANNEL_CLOSED. */
struct channel *downloader_channel(const struct downloader *downloader);
/*
 * Ends and frees several at once; entries may be NULL. They have 100 ms to remove what they have
 * begun to write; then they are killed.
 */
void downloaders_end(struct downloader **downloaders, size_t count);

#endif
