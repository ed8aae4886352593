#include "base/gzip.h"

#include "base/alloc.h"
#include "base/chunk_writer.h"
#include "base/cleanup.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

struct gzip_stream {
	FILE *out;
	struct chunk_writer *writer;
	uint32_t crc, len;
};

/*
 * Complete blocks without references to other chunks, ending at a byte
 * boundary, can be concatenated to one stream. Source: RFC 1951, 3.2.3;
 * deflate() in zlib.h on Z_SYNC_FLUSH.
 */
static size_t deflate_chunk(int level, const unsigned char *data, size_t len, unsigned char *made,
			    size_t room)
{
	z_stream zlib = {
		.next_in = (unsigned char *)(uintptr_t)data,
		.avail_in = (unsigned)len,
		.next_out = made,
		.avail_out = (unsigned)room,
	};

	/* -15: the largest window, without a header. */
	if (deflateInit2(&zlib, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return 0;
	deflate(&zlib, Z_SYNC_FLUSH);
	deflateEnd(&zlib);
	return room - zlib.avail_out;
}

static size_t deflate_fast(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	return deflate_chunk(Z_BEST_SPEED, data, len, made, room);
}

#ifdef HAVE_ISAL
/*
 * A full flush ends at a byte boundary, too. Source: isal_deflate_stateless()
 * in igzip_lib.h.
 */
static size_t deflate_quick(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	CLEANUP(free_ptr) struct isal_zstream *isal = xmalloc(sizeof(*isal));
	CLEANUP(free_ptr) uint8_t *tables = xmalloc(ISAL_DEF_LVL1_DEFAULT);

	isal_deflate_stateless_init(isal);
	isal->flush = FULL_FLUSH;
	isal->level = 1;
	isal->level_buf = tables;
	isal->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
	isal->next_in = (uint8_t *)(uintptr_t)data;
	isal->avail_in = (uint32_t)len;
	isal->next_out = made;
	isal->avail_out = (uint32_t)room;
	return isal_deflate_stateless(isal) == COMP_OK ? isal->total_out : 0;
}
#else
static size_t deflate_quick(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	return deflate_fast(data, len, made, room);
}
#endif

static size_t deflate_small(const unsigned char *data, size_t len, unsigned char *made, size_t room)
{
	/* Level 9 is hardly smaller and takes much longer. */
	return deflate_chunk(6, data, len, made, room);
}

static ssize_t gzip_write(void *cookie, const char *data, size_t size)
{
	struct gzip_stream *stream = cookie;

	stream->crc = (uint32_t)crc32_z(stream->crc, (const unsigned char *)data, size);
	stream->len += (uint32_t)size;
	return chunk_writer_put(stream->writer, data, size) ? (ssize_t)size : 0;
}

static void gzip_put_u32(FILE *out, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		putc((int)(number >> i * 8 & 0xff), out);
}

static int gzip_close(void *cookie)
{
	struct gzip_stream *stream = cookie;
	bool is_fine = chunk_writer_finish(stream->writer);

	if (is_fine) {
		fputs("\x03", stream->out); /* an empty last block */
		putc(0, stream->out);	    /* the rest of its fixed Huffman code */
		gzip_put_u32(stream->out, stream->crc);
		gzip_put_u32(stream->out, stream->len);
		is_fine = !ferror(stream->out);
	}
	free(stream);
	if (!is_fine)
		errno = errno ? errno : EIO;
	return is_fine ? 0 : -1;
}

static FILE *open_writer(FILE *out, chunk_writer_work *work)
{
	/* RFC 1952, 2.3: no name, no time, fastest, Unix */
	static const unsigned char header[10] = {0x1f, 0x8b, Z_DEFLATED, 0, 0, 0, 0, 0, 4, 3};
	static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
	struct gzip_stream *stream = xcalloc(1, sizeof(*stream));
	FILE *file = fopencookie(stream, "w", functions);

	if (!file) {
		free(stream);
		return NULL;
	}
	stream->out = out;
	stream->writer = chunk_writer_new(out, work);
	fwrite(header, 1, sizeof(header), out);
	return file;
}

FILE *gzip_writer(FILE *out)
{
	return open_writer(out, deflate_fast);
}

FILE *gzip_quick_writer(FILE *out)
{
	return open_writer(out, deflate_quick);
}

FILE *gzip_small_writer(FILE *out)
{
	return open_writer(out, deflate_small);
}

struct gunzip_stream {
	FILE *in;
	z_stream zlib;
	uint64_t left_bytes; /* until the limit */
	bool in_member;	     /* a member has started and not ended */
	unsigned char buffer[64 * 1024];
};

/*
 * Reads input for zlib. Returns false at the end of the file; an unfinished
 * member is then truncated.
 */
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

/*
 * Skips trailing zeros, which pad tape or disk blocks. gzip ignores them too.
 */
static void skip_zeros(z_stream *zlib)
{
	for (; zlib->avail_in && !*zlib->next_in; zlib->avail_in--)
		zlib->next_in++;
}

/* Inflates until there is output or no more input. Members are concatenated (RFC 1952, 2.2). */
static int gunzip_inflate(struct gunzip_stream *stream)
{
	unsigned room = stream->zlib.avail_out;

	while (stream->zlib.avail_out == room && gunzip_fill(stream)) {
		int status;

		if (!stream->in_member) {
			skip_zeros(&stream->zlib);
			if (!stream->zlib.avail_in)
				continue;
			if (inflateReset(&stream->zlib) != Z_OK)
				return EIO;
		}
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
	stream->in_member = true; /* an empty file is not a gzip file */
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
