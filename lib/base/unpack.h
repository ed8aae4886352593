/*
 * Whole blocks of compressed bytes: zlib's, zstd's and xz's of a known size, as sections of ELF
 * files are, and gzip files. libdeflate, where prof was built with it, takes 2/5 of zlib's time.
 */
#ifndef PROF_BASE_UNPACK_H
#define PROF_BASE_UNPACK_H

#include "base/bytes.h"

enum unpack_kind { UNPACK_ZLIB, UNPACK_ZSTD };

/* False: it is damaged, or unfolds to another size, or this prof was built without the library. */
bool unpack(enum unpack_kind kind, struct bytes from, void *to, size_t len);

/* An xz stream says its own size. *ret: to be freed. False as above, or when it holds more than
 * max_bytes. */
bool unpack_xz(struct bytes from, size_t max_bytes, void **ret, size_t *len);

/*
 * All members of a gzip file, one behind the other. *ret: to be freed. An errno: EBADMSG when it is
 * damaged or cut off, EFBIG when it holds more than max_bytes; else 0.
 */
int unpack_gzip(struct bytes from, size_t max_bytes, char **ret, size_t *len);

#endif
