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

struct gunzip_stream {
	FILE *in;
	z_stream zlib;
	uint64_t left_bytes; /* until the limit */
	bool in_member;	     /* a member is begun and not ended */
	unsigned char buffer[64 * 1024];
};

/* Input for zlib. False at the end of the file, where a member that goes on is cut off. */
static bool gunzip_fill(struct gunzip_stream *stream)
{
	if (stream->zlib.avail_in)
		return true;
	errno = 0;
	stream->zlib.next_in = stream->buffer;
	stream->zlib.avail_in = (unsigned)fread(stream->buffer, 1, sizeof(stream->buffer),
						stream->in);
	return stream->zlib.avail_in > 0;
}

/* Until there is some output, or no more input. Members follow each other as one (RFC 1952, 2.2).
 */
static int gunzip_inflate(struct gunzip_stream *stream)
{
	unsigned room = stream->zlib.avail_out;

	while (stream->zlib.avail_out == room && gunzip_fill(stream)) {
		int status;

		if (!stream->in_member && inflateReset(&stream->zlib) != Z_OK)
			return EIO;
		stream->in_member = true;
		status = inflate(&stream->zlib, Z_NO_FLUSH);
		if (status == Z_STREAM_END)
			stream->in_member = false;
		else if (status != Z_OK)
			return EBADMSG;
	}
	if (stream->zlib.avail_out < room)
		return 0;
	if (ferror(stream->in))
		return errno ? errno : EIO;
	return stream->in_member ? EBADMSG : 0;
}

static ssize_t gunzip_read(void *cookie, char *data, size_t size)
{
	struct gunzip_stream *stream = cookie;
	unsigned room = size < UINT_MAX ? (unsigned)size : UINT_MAX, made;
	int error;

	stream->zlib.next_out = (unsigned char *)data;
	stream->zlib.avail_out = room;
	error = gunzip_inflate(stream);
	made = room - stream->zlib.avail_out;
	if (!error && made > stream->left_bytes)
		error = EFBIG;
	if (error) {
		errno = error;
		return -1;
	}
	stream->left_bytes -= made;
	return made;
}

static int gunzip_close(void *cookie)
{
	struct gunzip_stream *stream = cookie;

	inflateEnd(&stream->zlib);
	free(stream);
	return 0;
}

FILE *gzip_reader(FILE *in, uint64_t limit_bytes)
{
	static const cookie_io_functions_t functions = {.read = gunzip_read, .close = gunzip_close};
	struct gunzip_stream *stream = xcalloc(1, sizeof(*stream));
	FILE *file = NULL;

	stream->in = in;
	stream->left_bytes = limit_bytes;
	stream->in_member = true; /* nothing at all is no gzip file */
	if (inflateInit2(&stream->zlib, 15 + 16) == Z_OK)
		file = fopencookie(stream, "r", functions);
	if (!file)
		gunzip_close(stream);
	return file;
}

uint32_t crc32_of(struct bytes data)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), data.at, bytes_left(&data));
}
