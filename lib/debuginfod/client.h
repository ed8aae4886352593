/*
 * What a downloader (downloader.h) does: asks libdebuginfod for files and tells prof what comes.
 *
 * Messages of prof: GET. Of the downloader, for each GET: PROGRESS, any number of them, then DONE;
 * NO_LIBRARY once, in place of all else.
 */
#ifndef PROF_DEBUGINFOD_CLIENT_H
#define PROF_DEBUGINFOD_CLIENT_H

#include "base/bytes.h"
#include "debuginfod/download.h"
#include "sandbox/channel.h"

#include <limits.h>

enum {
	CLIENT_GET = 1,	   /* length of the build-id (u8), build-id, path of a source or nothing */
	CLIENT_PROGRESS,   /* bytes so far (u64), total bytes or 0 (u64) */
	CLIENT_DONE,	   /* errno (u32), path, NUL, URL, NUL; descriptor: of the file */
	CLIENT_NO_LIBRARY, /* nothing */
};

/*
 * A download ends when its file has DOWNLOAD_BYTES_MAX bytes, or this much less than RLIMIT_FSIZE:
 * libdebuginfod takes a write that fails for a fault of the network, and downloads again.
 */
enum { CLIENT_MARGIN_BYTES = 4 << 20 };

/* Room for a GET. */
enum { CLIENT_GET_BYTES_MAX = 1 + BUILD_ID_MAX + PATH_MAX };

/* Returns the number of bytes; 0: the path of the source is too long. */
size_t client_get_write(const struct download *download, unsigned char into[CLIENT_GET_BYTES_MAX]);

struct client_done {
	unsigned error;
	char *path, *url; /* to be freed; url NULL: from the cache */
};

/* For prof, which believes nothing. False if they are not such messages. */
bool client_progress_read(struct bytes from, uint64_t *bytes, uint64_t *total_bytes);
bool client_done_read(struct bytes from, struct client_done *ret);

/*
 * In the downloader: serves until the other end of the channel is closed, which ends a download,
 * too. libdebuginfod looks up at least every second, and when a signal handler has run. cache: of
 * cache_open().
 */
void client_serve(struct channel *channel, int cache);

#endif
