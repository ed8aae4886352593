/*
 * Names that do not change between builds of the same source. prof diff
 * compares functions and files by them.
 */
#ifndef PROF_REPORT_STABLE_NAME_H
#define PROF_REPORT_STABLE_NAME_H

/*
 * Returns the function's name without what compilers and linkers add in each
 * build: the suffixes of clones (".constprop.0", " [clone .part.0]", ".cold"),
 * ThinLTO's ".llvm.123", Rust's "::h0123456789abcdef" if the demangler kept it,
 * and the "_[i]" of inlined functions in folded stacks. The caller frees it.
 */
char *stable_function_name(const char *name);

/*
 * Returns the file name without directory and without the version of a shared
 * library: "libz.so" for "/lib/libz.so.1.3". The caller frees it.
 */
char *stable_file_name(const char *path);

#endif
