/*
 * Recognizes functions of allocators, which are at the leaf of stacks in heap
 * files: those of jemalloc and tcmalloc, malloc() and similar functions,
 * operator new, and the Rust functions that lead to them.
 */
#ifndef PROF_HEAPFILE_ALLOCATOR_NAMES_H
#define PROF_HEAPFILE_ALLOCATOR_NAMES_H

#include <stdbool.h>

/* name is demangled, or as in the symbol table. */
bool is_allocator_function(const char *name);
/* Returns whether the path is that of an allocator library, whose unsymbolized
 * frames belong to the allocator, too. */
bool is_allocator_library(const char *path);

#endif
