/*
 * The directory in which libdebuginfod keeps what it has downloaded, chosen as libdebuginfod does:
 * $DEBUGINFOD_CACHE_PATH; ~/.debuginfod_client_cache if there is one;
 * $XDG_CACHE_HOME/debuginfod_client; ~/.cache/debuginfod_client. Source:
 * debuginfod-client-config(7). For a downloader, after it has become its user.
 */
#ifndef PROF_DEBUGINFOD_CACHE_H
#define PROF_DEBUGINFOD_CACHE_H

#include "elf/build_id.h"

/*
 * Makes it if needed, and names it in DEBUGINFOD_CACHE_PATH, so that libdebuginfod uses this one.
 * Returns a descriptor (O_PATH); -1: it cannot be made.
 */
int cache_open(void);
/*
 * libdebuginfod remembers for some minutes which files no server has, as empty files, and version
 * 0.188 takes a download that was stopped for one of those: forgets those of this build-id.
 */
void cache_forget_misses(int cache, const struct build_id *id);

#endif
