/*
 * Symbolizes the frames of a profile that another profiler wrote without
 * symbols (jemalloc_pprof, perf_to_profile), using the files that its mappings
 * name.
 *
 *  - A module is symbolized if it has a file and mappings, and no symbolized
 *    frame.
 *  - Addresses are looked up by file offset, so runs at different load
 *    addresses have the same functions. Unlike `go tool pprof`, prof does not
 *    treat them as return addresses.
 *  - A file is opened and checked like that of a perf.data file
 *    (proc/file_locator.h). It must have the build-id of the mapping, if that
 *    has one. Files that cannot be used are reported as problems.
 */
#ifndef PROF_RECORD_LOCAL_SYMBOLS_H
#define PROF_RECORD_LOCAL_SYMBOLS_H

#include "record/import.h"

/* Uses only symfs, caller, writer, symbols, loop, cancel and listener of the
 * options. */
void local_symbols_add(struct profile *profile, const struct import_options *options);

#endif
