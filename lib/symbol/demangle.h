/*
 * From linker names to names for people: Rust (v0 and legacy, without hashes) and C++. libiberty
 * does the work.
 */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

/*
 * A fresh string (free()), or NULL when the name is not mangled or cannot be demangled. Compiler
 * suffixes (.llvm.123, .cold, .part.N, .isra.N, .constprop.N) are taken off first; those that tell
 * clones apart are put back, .llvm.N is not. Never recurses without bound. Thread-safe.
 */
char *demangle(const char *name);

#endif
