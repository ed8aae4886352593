/*
 * Demangles names of Rust (v0 and legacy, without hashes), C++, D and Ada, with libiberty, and
 * those of OCaml and Fortran (gfortran, flang).
 */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

#include <stddef.h>

/*
 * Returns a string to free(), or NULL if the name is not mangled or cannot be demangled.
 *
 * Clone suffixes are kept as c++filt and perf print them, "foo(int) [clone .cold]", also for Rust;
 * names that are not mangled keep theirs unchanged. The link-time optimizer's .llvm.N, which
 * changes with every build, is removed from all names, and so are Go's .abi0 and the __GI_ of
 * glibc's internal aliases. Text after a name
 * ("@plt", " [module]") is kept.
 *
 * Time, memory and stack (less than 4 MiB) are bounded for any input; a name beyond the bounds
 * counts as one that cannot be demangled. Thread-safe.
 */
char *demangle(const char *name);
/*
 * Demangles one of many names, whose demangled text is bounded together: *bytes_left
 * is how much of it is left. Text that was given up because it became too long counts.
 */
char *demangle_within(const char *name, size_t *bytes_left);

/*
 * The same for a name of Ada, "pkg__child__proc": "pkg.child.proc". A name of C can look the same,
 * so the caller must know that the file has Ada code.
 */
char *demangle_ada(const char *name);

#endif
