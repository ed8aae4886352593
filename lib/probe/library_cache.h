/*
 * Reads the dynamic linker's cache, /etc/ld.so.cache, to find libraries.
 * Source: ldconfig(8), glibc's sysdeps/generic/dl-cache.h.
 */
#ifndef PROF_PROBE_LIBRARY_CACHE_H
#define PROF_PROBE_LIBRARY_CACHE_H

#include "base/bytes.h"

/*
 * Returns the path of the first library for this architecture that library_is()
 * accepts, or NULL. The path is borrowed from the cache.
 */
const char *library_cache_find(struct bytes cache, const char *stem);

/*
 * Returns true if the file name belongs to the library: "libc.so.6" and
 * "libc-2.31.so" belong to "libc".
 */
bool library_is(const char *file, const char *stem);

#endif
