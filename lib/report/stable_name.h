/*
 * Names that stay the same from build to build of one source: what prof diff compares functions and
 * files by.
 */
#ifndef PROF_REPORT_STABLE_NAME_H
#define PROF_REPORT_STABLE_NAME_H

/*
 * The function's name without what compilers and linkers add per build: the suffixes of clones
 * (".constprop.0", " [clone .part.0]", ".cold"), ThinLTO's ".llvm.123", Rust's
 * "::h0123456789abcdef" where the demangler left it, and the "_[i]" of inlined functions in folded
 * stacks. To be freed.
 */
char *stable_function_name(const char *name);

/* The file name without directory and without the version of a shared library: "libz.so" for
 * "/lib/libz.so.1.3". To be freed. */
char *stable_file_name(const char *path);

#endif
