#include "base/unpack.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/gzip.h"
#include "base/read_all.h"

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif
#ifdef HAVE_LZMA
#include <lzma.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif
#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_LIBDEFLATE
static bool unpack_zlib(struct bytes from, void *to, size_t len)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

	/*
	 * Without a pointer for the length (NULL), the output must have exactly
	 * this length.
	 */
	if (inflater)
		result = libdeflate_zlib_decompress(inflater, from.at, bytes_left(&from), to, len,
						    NULL);
	libdeflate_free_decompressor(inflater);
	return result == LIBDEFLATE_SUCCESS;
}
#else
static bool unpack_zlib(struct bytes from, void *to, size_t len)
{
	uLongf got = len;

	return uncompress(to, &got, from.at, bytes_left(&from)) == Z_OK && got == len;
}
#endif

static bool unpack_zstd(struct bytes from, void *to, size_t len)
{
#ifdef HAVE_ZSTD
	return ZSTD_decompress(to, len, from.at, bytes_left(&from)) == len;
#else
	(void)from;
	(void)to;
	(void)len;
	return false;
#endif
}

bool unpack(enum unpack_kind kind, struct bytes from, void *to, size_t len)
{
	return kind == UNPACK_ZSTD ? unpack_zstd(from, to, len) : unpack_zlib(from, to, len);
}

#ifdef HAVE_LZMA
/*
 * Returns the size from the index, which the footer refers to (The .xz File
 * Format, 2.1.2, 4), or 0 if it is malformed.
 */
static uint64_t xz_size(struct bytes from)
{
	lzma_stream_flags footer;
	lzma_index *index = NULL;
	uint64_t memory = UINT64_C(1) << 20, size = 0;
	size_t len = bytes_left(&from), at = 0;

	if (len < 2 * LZMA_STREAM_HEADER_SIZE ||
	    lzma_stream_footer_decode(&footer, from.end - LZMA_STREAM_HEADER_SIZE) != LZMA_OK ||
	    footer.backward_size > len - 2 * LZMA_STREAM_HEADER_SIZE)
		return 0;
	from.end -= LZMA_STREAM_HEADER_SIZE;
	if (lzma_index_buffer_decode(&index, &memory, NULL, from.end - footer.backward_size, &at,
				     (size_t)footer.backward_size) == LZMA_OK)
		size = lzma_index_uncompressed_size(index);
	lzma_index_end(index, NULL);
	return size;
}
#endif

bool unpack_xz(struct bytes from, size_t max_bytes, void **ret, size_t *len)
{
#ifdef HAVE_LZMA
	uint64_t size = xz_size(from), memory = UINT64_C(1) << 28;
	size_t in = 0, out = 0;
	void *to = size && size <= max_bytes ? malloc(size) : NULL;

	if (to &&
	    lzma_stream_buffer_decode(&memory, 0, NULL, from.at, &in, bytes_left(&from), to, &out,
				      size) == LZMA_OK &&
	    out == size) {
		*ret = to;
		*len = size;
		return true;
	}
	free(to);
#else
	(void)from;
	(void)max_bytes;
	(void)ret;
	(void)len;
#endif
	return false;
}

#ifdef HAVE_ZSTD
/* Makes room for more output. Returns false if there is too much already. */
static bool unpack_grow(char **to, size_t *room, size_t max_bytes)
{
	size_t more = *room < max_bytes / 2 ? *room * 2 : max_bytes;
	char *grown = more > *room ? realloc(*to, more) : NULL;

	if (!grown)
		return false;
	*to = grown;
	*room = more;
	return true;
}
#endif

bool unpack_zstd_stream(struct bytes from, size_t max_bytes, void **ret, size_t *len)
{
#ifdef HAVE_ZSTD
	ZSTD_DCtx *inflater = ZSTD_createDCtx();
	ZSTD_inBuffer in = {.src = from.at, .size = bytes_left(&from)};
	size_t room = max_bytes < 1 << 20 ? max_bytes : 1 << 20, left = 1;
	char *to = malloc(room);
	ZSTD_outBuffer out = {.dst = to, .size = room};

	while (inflater && to && left && !ZSTD_isError(left)) {
		size_t done = in.pos + out.pos;

		left = ZSTD_decompressStream(inflater, &out, &in);
		if (out.pos == out.size && left && !ZSTD_isError(left)) {
			if (!unpack_grow(&to, &room, max_bytes))
				break;
			out.dst = to;
			out.size = room;
		} else if (in.pos + out.pos == done) {
			break; /* the end is missing */
		}
	}
	ZSTD_freeDCtx(inflater);
	if (!left && in.pos == in.size) {
		*ret = to;
		*len = out.pos;
		return true;
	}
	free(to);
#else
	(void)from;
	(void)max_bytes;
	(void)ret;
	(void)len;
#endif
	return false;
}

#ifdef HAVE_LIBDEFLATE
/*
 * The maximum compression ratio of deflate. A file that exceeds it is
 * malformed.
 */
#define MOST_UNFOLDED 1032

/*
 * Returns the size in the last member (RFC 1952, 2.3.1), which usually is that
 * of the whole content.
 */
static size_t likely_size(struct bytes from, size_t max_bytes)
{
	size_t len = bytes_left(&from), size;
	struct bytes trailer = bytes_at(from, len < 4 ? len : len - 4);

	size = bytes_u32(&trailer);
	/* Padding was read instead of a size, or the size is impossible. */
	if (!size || size / MOST_UNFOLDED > len)
		size = len;
	return size < max_bytes ? size : max_bytes;
}

/*
 * Inflates one member. Returns an errno; ERANGE means that there is not enough
 * room.
 */
static int unpack_member(struct libdeflate_decompressor *inflater, struct bytes *from, char *to,
			 size_t room, size_t *made)
{
	size_t used;

	switch (libdeflate_gzip_decompress_ex(inflater, from->at, bytes_left(from), to, room, &used,
					      made)) {
	case LIBDEFLATE_SUCCESS:
		bytes_skip(from, used);
		while (bytes_left(from) && !*from->at)
			bytes_skip(from, 1);
		return 0;
	case LIBDEFLATE_INSUFFICIENT_SPACE:
		return ERANGE;
	default:
		return EBADMSG;
	}
}

int unpack_gzip(struct bytes from, size_t max_bytes, char **ret, size_t *len)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	size_t room = likely_size(from, max_bytes), count = 0, made;
	CLEANUP(free_ptr) char *to = xmalloc(room + 1);
	int error = inflater ? 0 : ENOMEM;

	while (!error) {
		error = unpack_member(inflater, &from, to + count, room - count, &made);
		if (error == ERANGE && room < max_bytes) {
			room = room < max_bytes / 2 ? room * 2 + 1 : max_bytes;
			to = xreallocarray(to, room + 1, 1);
			error = 0;
			continue;
		}
		if (!error)
			count += made;
		if (!bytes_left(&from))
			break;
	}
	libdeflate_free_decompressor(inflater);
	if (error)
		return error == ERANGE ? EFBIG : error;
	*ret = STEAL(to);
	*len = count;
	return 0;
}
#else
int unpack_gzip(struct bytes from, size_t max_bytes, char **ret, size_t *len)
{
	CLEANUP(close_file)
	FILE *in = fmemopen((void *)(uintptr_t)from.at, bytes_left(&from), "r");
	CLEANUP(close_file) FILE *gzip = in ? gzip_reader(in, max_bytes) : NULL;

	return gzip ? read_all(gzip, max_bytes, ret, len) : errno;
}
#endif
