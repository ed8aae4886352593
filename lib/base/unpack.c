#include "base/unpack.h"

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#ifdef HAVE_LIBDEFLATE
static bool unpack_zlib(struct bytes from, void *to, size_t len)
{
	struct libdeflate_decompressor *inflater = libdeflate_alloc_decompressor();
	enum libdeflate_result result = LIBDEFLATE_BAD_DATA;

	/* Without a place for the length it must be all of it. */
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
