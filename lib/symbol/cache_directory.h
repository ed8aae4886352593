/*
 * The directory of the symbol cache: $XDG_CACHE_HOME/prof, by default
 * ~/.cache/prof.
 *
 * The directory, its parent and its files belong to the effective user, and
 * nobody else can write to them. So root does not use the cache of a user whose
 * HOME it has inherited. It has none under sudo(8), because it trusts the
 * caller's files there, whose symbols would stay for later callers. With file
 * capabilities, prof has none either (secure_getenv(3)).
 *
 * Failures are not reported: prof then works without a cache.
 */
#ifndef PROF_SYMBOL_CACHE_DIRECTORY_H
#define PROF_SYMBOL_CACHE_DIRECTORY_H

#include <stddef.h>

/* Creates the directory if it is missing. Returns a descriptor or -1. */
int cache_directory_open(void);
/* Returns the contents of a file of up to bytes_max, which the caller frees, or
 * NULL. */
void *cache_directory_read(int directory, const char *name, size_t bytes_max, size_t *len);
/* Writes a file. Readers see the whole old one or the whole new one. */
void cache_directory_write(int directory, const char *name, const void *data, size_t len);
/* Removes the oldest files if all together are too large. */
void cache_directory_trim(int directory);

#endif
