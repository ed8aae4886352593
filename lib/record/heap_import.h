/*
 * Imports a jemalloc or tcmalloc heap file (heapfile/heap_file.h) as a profile.
 *
 * Addresses of stacks are resolved with the mappings that the file lists, and
 * symbolized like those of a perf.data file.
 *
 *  - The events are inuse_space, alloc_objects, alloc_space and inuse_objects.
 *    inuse_space is first because it is the main purpose of these files. The
 *    allocation events exist only if the file contains them.
 *  - The allocator's own functions are removed from the leaf of a stack, so the
 *    leaf is the caller of malloc() or operator new.
 *  - Heap files contain no build-ids. If a module is newer than the heap file,
 *    this is reported as a problem.
 */
#ifndef PROF_RECORD_HEAP_IMPORT_H
#define PROF_RECORD_HEAP_IMPORT_H

#include "record/import.h"

/* Takes ownership of fd, also on error. Does not use
 * options->needs_timestamps. */
MUST_CHECK struct error *import_heap_file(int fd, const struct import_options *options,
					  struct import_result *ret);

#endif
