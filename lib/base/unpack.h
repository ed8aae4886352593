/*
 * Decompresses whole blocks: zlib and zstd of a known size (sections of ELF
 * files), and xz, zstd and gzip files. It uses libdeflate, if prof was built
 * with it, because it is faster than zlib.
 */
#ifndef PROF_BASE_UNPACK_H
#define PROF_BASE_UNPACK_H

#include "base/bytes.h"

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

/*
 * Returns false if the block is damaged, has another size, or this build of
 * prof lacks the library.
 */
bool unpack(enum unpack_kind kind, struct bytes from, void *to, size_t len);

/*
 * Decompresses an xz stream, which contains its size. The caller frees *ret.
 * Returns false if the stream is damaged, the library is missing, or the result
 * has more than max_bytes.
 */
bool unpack_xz(struct bytes from, size_t max_bytes, void **ret, size_t *len);

/* Like unpack_xz(), for a zstd stream, which need not contain its size. */
bool unpack_zstd_stream(struct bytes from, size_t max_bytes, void **ret, size_t *len);

/*
 * Decompresses all members of a gzip file and ignores zeros after a member. The
 * caller frees *ret. Returns 0 or an errno: EBADMSG if it is damaged or
 * truncated, EFBIG if it has more than max_bytes.
 */
int unpack_gzip(struct bytes from, size_t max_bytes, char **ret, size_t *len);

#endif
