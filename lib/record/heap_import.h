/*
 * Makes a profile of a heap file of jemalloc or tcmalloc (heapfile/heap_file.h). The addresses of
 * its stacks are looked up in the mappings that it lists and symbolized as those of a perf.data
 * file.
 *
 *  - Events: inuse_space, which comes first because it is what these files are written for,
 *    alloc_objects, alloc_space and inuse_objects; those of allocations only if the file tells
 * them.
 *  - The allocator's own functions at the leaf of a stack are left out: the leaf is what called
 *    malloc() or operator new.
 *  - Files have no build-id there. A file that was written to later than the heap file adds a
 *    problem.
 */
#ifndef PROF_RECORD_HEAP_IMPORT_H
#define PROF_RECORD_HEAP_IMPORT_H

#include "record/import.h"

/* Takes fd in every case. Of the options, needs_timestamps is not used. */
MUST_CHECK struct error *import_heap_file(int fd, const struct import_options *options,
					  struct import_result *ret);

#endif
