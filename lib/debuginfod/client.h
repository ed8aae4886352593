/*
 * The protocol and the work of a downloader (downloader.h): it requests files
 * from libdebuginfod and reports the results to prof.
 *
 * prof sends GET. For each GET, the downloader sends any number of PROGRESS,
 * then DONE. If libdebuginfod is missing, it sends NO_LIBRARY once instead.
 */
#ifndef PROF_DEBUGINFOD_CLIENT_H
#define PROF_DEBUGINFOD_CLIENT_H

#include "base/bytes.h"
#include "debuginfod/download.h"
#include "sandbox/channel.h"

#include <limits.h>

enum {
	/* Length of the build-id (u8), build-id, path of a source file or
	 * nothing. */
	CLIENT_GET = 1,
	CLIENT_PROGRESS, /* bytes so far (u64), total bytes or 0 (u64) */
	/* Errno (u32), path, NUL, URL, NUL; with the descriptor of the file. */
	CLIENT_DONE,
	CLIENT_NO_LIBRARY, /* no contents */
};

/*
 * A download ends when its file has DOWNLOAD_BYTES_MAX bytes, or this much less
 * than RLIMIT_FSIZE. libdebuginfod treats a failed write as a network error and
 * would download the file again.
 */
enum { CLIENT_MARGIN_BYTES = 4 << 20 };

/* Maximum size of a GET. */
enum { CLIENT_GET_BYTES_MAX = 1 + BUILD_ID_MAX + PATH_MAX };

/* Returns the number of bytes, or 0 if the path of the source is too long. */
size_t client_get_write(const struct download *download, unsigned char into[CLIENT_GET_BYTES_MAX]);

struct client_done {
	unsigned error;
	/* The caller frees both; url is NULL for a file from the cache. */
	char *path, *url;
};

/* Parse messages in prof, which does not trust them. Return false for malformed
 * messages. */
bool client_progress_read(struct bytes from, uint64_t *bytes, uint64_t *total_bytes);
bool client_done_read(struct bytes from, struct client_done *ret);

/*
 * Runs in the downloader: serves requests until the other end of the channel is
 * closed, which also ends a download. libdebuginfod checks for that at least
 * once a second, and after each signal handler. cache: from cache_open().
 */
void client_serve(struct channel *channel, int cache);

#endif
