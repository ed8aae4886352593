/*
 * Functions of allocators, which heap files have at the leaf of their stacks: jemalloc's and
 * tcmalloc's own, malloc() and its kin, operator new, and those of Rust that lead to them.
 */
#ifndef PROF_HEAPFILE_ALLOCATOR_NAMES_H
#define PROF_HEAPFILE_ALLOCATOR_NAMES_H

#include <stdbool.h>

/* name: demangled, or as in the symbol table. */
bool is_allocator_function(const char *name);
/* The library, by its path: what it does not name is its own, too. */
bool is_allocator_library(const char *path);

#endif
