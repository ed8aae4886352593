#include "base/gzip.h"

#include "base/alloc.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct gzip_stream {
	FILE *out;
	z_stream zlib;
	unsigned char buffer[64 * 1024];
};

/* Feeds zlib, and writes what it gives, until it wants more input (or, with Z_FINISH, is done). */
static bool gzip_deflate(struct gzip_stream *stream, int flush)
{
	int status;

	do {
		size_t made;

		stream->zlib.next_out = stream->buffer;
		stream->zlib.avail_out = sizeof(stream->buffer);
		status = deflate(&stream->zlib, flush);
		made = sizeof(stream->buffer) - stream->zlib.avail_out;
		if (made && fwrite(stream->buffer, 1, made, stream->out) != made)
			return false;
	} while (stream->zlib.avail_out == 0 || (flush == Z_FINISH && status == Z_OK));
	return true;
}

static ssize_t gzip_write(void *cookie, const char *data, size_t size)
{
	struct gzip_stream *stream = cookie;
	size_t taken = size < UINT_MAX ? size : UINT_MAX;

	stream->zlib.next_in = (unsigned char *)(uintptr_t)data;
	stream->zlib.avail_in = (unsigned)taken;
	return gzip_deflate(stream, Z_NO_FLUSH) ? (ssize_t)taken : 0;
}

static int gzip_close(void *cookie)
{
	struct gzip_stream *stream = cookie;
	bool finished;

	stream->zlib.avail_in = 0;
	finished = gzip_deflate(stream, Z_FINISH);
	deflateEnd(&stream->zlib);
	free(stream);
	if (!finished)
		errno = errno ? errno : EIO;
	return finished ? 0 : -1;
}

FILE *gzip_writer(FILE *out)
{
	static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
	struct gzip_stream *stream = xcalloc(1, sizeof(*stream));
	FILE *file = NULL;

	stream->out = out;
	/* 15 + 16: the largest window, gzip's header (whose time zlib leaves 0). */
	if (deflateInit2(&stream->zlib, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) ==
	    Z_OK)
		file = fopencookie(stream, "w", functions);
	if (!file) {
		deflateEnd(&stream->zlib);
		free(stream);
	}
	return file;
}

uint32_t crc32_of(struct bytes data)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data.at, bytes_left(&data));
}
