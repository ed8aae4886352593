/*
 * Decompresses whole blocks: zlib and zstd of a known size (sections of ELF files), xz, zstd and
 * gzip files. libdeflate, if prof was built with it, takes 2/5 of zlib's time.
 */
#ifndef PROF_BASE_UNPACK_H
#define PROF_BASE_UNPACK_H

#include "base/bytes.h"

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

/* False if the block is damaged, has another size, or this build of prof lacks the library. */
bool unpack(enum unpack_kind kind, struct bytes from, void *to, size_t len);

/*
 * An xz stream contains its size. The caller frees *ret. False as above, or if it has more than
 * max_bytes.
 */
bool unpack_xz(struct bytes from, size_t max_bytes, void **ret, size_t *len);

/* The same of a zstd stream, which need not contain its size. */
bool unpack_zstd_stream(struct bytes from, size_t max_bytes, void **ret, size_t *len);

/*
 * Decompresses all members of a gzip file and ignores zeros after a member. The caller frees *ret.
 * Returns 0 or an errno: EBADMSG if it is damaged or truncated, EFBIG if it has more than
 * max_bytes.
 */
int unpack_gzip(struct bytes from, size_t max_bytes, char **ret, size_t *len);

#endif
