/*
 * Demangles names of Rust (v0 and legacy, without hashes), C++, D and Ada with
 * libiberty, and names of OCaml and Fortran (gfortran, flang).
 */
#ifndef PROF_SYMBOL_DEMANGLE_H
#define PROF_SYMBOL_DEMANGLE_H

#include <stddef.h>

/*
 * Returns a string that the caller frees, or NULL if the name is not mangled or
 * cannot be demangled. Thread-safe.
 *
 * Clone suffixes are kept in the format of c++filt and perf, "foo(int) [clone
 * .cold]", for Rust as well. Names that are not mangled keep theirs unchanged.
 * These parts are removed from all names: the .llvm.N of link-time
 * optimization, which changes with every build, Go's .abi0, and the __GI_ of
 * glibc's internal aliases. Text after a name ("@plt", " [module]") is kept.
 *
 * Time, memory and stack (less than 4 MiB) are bounded for any input. A name
 * that exceeds the bounds cannot be demangled.
 */
char *demangle(const char *name);
/*
 * Like demangle(), for one of many names with a common bound. *bytes_left is
 * the remaining size of the demangled text. Text that is discarded because it
 * is too long counts, too.
 */
char *demangle_within(const char *name, size_t *bytes_left);

/*
 * Demangles a name of Ada, "pkg__child__proc", to "pkg.child.proc". A C name
 * can look the same, so the caller must know that the file has Ada code.
 */
char *demangle_ada(const char *name);

#endif
