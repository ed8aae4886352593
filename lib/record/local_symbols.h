/*
 * Symbolizes the frames of a profile that another profiler wrote without symbols (jemalloc_pprof,
 * perf_to_profile), from the files that its mappings name.
 *
 *  - Modules are symbolized that have a file and mappings, and no symbolized frame.
 *  - Addresses are looked up by their offset in the file, so that runs at different addresses have
 *    the same functions. They are not taken for return addresses, as in `go tool pprof`.
 *  - A file is opened and checked as that of a perf.data file (proc/file_locator.h): it must have
 *    the build-id of the mapping, if that has one. Files that are not used are problems.
 */
#ifndef PROF_RECORD_LOCAL_SYMBOLS_H
#define PROF_RECORD_LOCAL_SYMBOLS_H

#include "record/import.h"

/* Of the options, symfs, caller, writer, symbols, loop, cancel and listener are used. */
void local_symbols_add(struct profile *profile, const struct import_options *options);

#endif
