/*
 * Finds the directory in which libdebuginfod stores downloads, in the same
 * order as libdebuginfod: $DEBUGINFOD_CACHE_PATH; ~/.debuginfod_client_cache if
 * it exists; $XDG_CACHE_HOME/debuginfod_client; ~/.cache/debuginfod_client.
 * Used by a downloader after it has become its user.
 *
 * Source: debuginfod-client-config(7).
 */
#ifndef PROF_DEBUGINFOD_CACHE_H
#define PROF_DEBUGINFOD_CACHE_H

#include "elf/build_id.h"

/*
 * Creates the directory if needed, and sets DEBUGINFOD_CACHE_PATH so that
 * libdebuginfod uses it. Returns a descriptor (O_PATH), or -1 if it cannot be
 * created.
 */
int cache_open(void);
/*
 * Forgets that no server has files of this build-id. libdebuginfod caches such
 * misses for some minutes as empty files, and version 0.188 also records an
 * aborted download as a miss.
 */
void cache_forget_misses(int cache, const struct build_id *id);

#endif
