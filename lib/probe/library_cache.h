/*
 * The dynamic linker's cache, /etc/ld.so.cache: where it finds libraries. Source: ldconfig(8),
 * glibc's sysdeps/generic/dl-cache.h.
 */
#ifndef PROF_PROBE_LIBRARY_CACHE_H
#define PROF_PROBE_LIBRARY_CACHE_H

#include "base/bytes.h"

/* The path of the first library of this machine that library_is() accepts, borrowed; NULL: there is
 * none. */
const char *library_cache_find(struct bytes cache, const char *stem);

/* Whether the file name is of the library: "libc.so.6" and "libc-2.31.so" are of "libc". */
bool library_is(const char *file, const char *stem);

#endif
