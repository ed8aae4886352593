/*
 * From linker names to names for people: Rust (v0 and legacy, without hashes) and C++. libiberty
 * does the work.
 */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

/*
 * A fresh string (free()), or NULL when the name is not mangled or cannot be demangled.
 *
 * Suffixes that tell clones apart are kept as c++filt and perf print them: "foo(int) [clone
 * .cold]", also for Rust; names that are not mangled keep theirs as it is. The link-time
 * optimizer's .llvm.N, which changes with every build, is taken off all names, C's too, and so is Go's
 * .abi0. What follows a name ("@plt", " [module]") stays.
 *
 * Time, memory and stack (less than 4 MiB) are bounded whatever the name says; beyond the bounds it
 * counts as one that cannot be demangled. Thread-safe.
 */
char *demangle(const char *name);

#endif
