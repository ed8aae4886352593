#include "perfdata/inflater.h"

#include "base/alloc.h"

#ifdef HAVE_ZSTD

#include <stdlib.h>
#include <zstd.h>

enum {
	INFLATED_BYTES = 256 << 10,
	/*
	 * Limit of the decompressed records: this many bytes plus this many per
	 * compressed byte. Copies of stacks are similar and compress up to 100
	 * times; zstd streams can claim up to 30,000 times.
	 */
	MADE_BYTES = 64 << 20,
	MADE_BYTES_PER_BYTE = 512,
};

struct inflater {
	ZSTD_DStream *stream;
	ZSTD_inBuffer piece;
	unsigned char *inflated;
	size_t at, filled;
	uint64_t fed_bytes, made_bytes; /* totals of all pieces */
};

struct error *inflater_new(struct inflater **ret)
{
	CLEANUP(inflater_cleanup) struct inflater *inflater = xcalloc(1, sizeof(*inflater));

	inflater->inflated = xmalloc(INFLATED_BYTES);
	inflater->stream = ZSTD_createDStream();
	if (!inflater->stream)
		return error_new("out of memory for zstd");
	*ret = STEAL(inflater);
	return NULL;
}

void inflater_free(struct inflater *inflater)
{
	if (!inflater)
		return;
	ZSTD_freeDStream(inflater->stream);
	free(inflater->inflated);
	free(inflater);
}

void inflater_feed(struct inflater *inflater, struct bytes piece)
{
	inflater->piece = (ZSTD_inBuffer){.src = piece.at, .size = bytes_left(&piece)};
	inflater->fed_bytes += bytes_left(&piece);
}

static struct error *inflate(struct inflater *inflater)
{
	ZSTD_outBuffer out = {
		.dst = inflater->inflated,
		.size = INFLATED_BYTES,
		.pos = inflater->filled,
	};
	size_t result = ZSTD_decompressStream(inflater->stream, &out, &inflater->piece);

	inflater->made_bytes += out.pos - inflater->filled;
	inflater->filled = out.pos;
	if (ZSTD_isError(result))
		return error_new("the compressed records are damaged (%s)",
				 ZSTD_getErrorName(result));
	if (inflater->made_bytes > MADE_BYTES + inflater->fed_bytes * MADE_BYTES_PER_BYTE)
		return error_new("the compressed records expand to an implausible size");
	return NULL;
}

static size_t inflater_held(const struct inflater *inflater)
{
	return inflater->filled - inflater->at;
}

struct error *inflater_look(struct inflater *inflater, size_t len, struct bytes *ret)
{
	struct error *err = NULL;

	if (inflater_held(inflater) < len && inflater->at + len > INFLATED_BYTES) {
		memmove(inflater->inflated, inflater->inflated + inflater->at,
			inflater_held(inflater));
		inflater->filled = inflater_held(inflater);
		inflater->at = 0;
	}
	while (!err && inflater_held(inflater) < len) {
		size_t consumed = inflater->piece.pos, produced = inflater->filled;

		err = inflate(inflater);
		if (inflater->piece.pos == consumed && inflater->filled == produced)
			break;
	}
	*ret = bytes_of(inflater->inflated + inflater->at,
			inflater_held(inflater) < len ? inflater_held(inflater) : len);
	return err;
}

void inflater_skip(struct inflater *inflater, size_t len)
{
	inflater->at += len;
}

#else

struct error *inflater_new(struct inflater **ret)
{
	(void)ret;
	return error_hint(error_new("the recording is compressed, and prof was built without zstd"),
			  "build prof where libzstd's headers are, or record without -z");
}

void inflater_free(struct inflater *inflater)
{
	(void)inflater;
}

void inflater_feed(struct inflater *inflater, struct bytes piece)
{
	(void)inflater;
	(void)piece;
}

struct error *inflater_look(struct inflater *inflater, size_t len, struct bytes *ret)
{
	(void)inflater;
	(void)len;
	*ret = bytes_of(NULL, 0);
	return NULL;
}

void inflater_skip(struct inflater *inflater, size_t len)
{
	(void)inflater;
	(void)len;
}

#endif
