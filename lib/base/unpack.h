/*
 * Whole blocks of compressed bytes of a known size, as sections of ELF files are: zlib's,
 * zstd's and xz's. libdeflate, where prof was built with it, takes 2/5 of zlib's time.
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

#endif
