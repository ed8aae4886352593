/*
 * What a function or a file of one build is known by in another one of the same source.
 */
#ifndef PROF_REPORT_COUNTERPART_H
#define PROF_REPORT_COUNTERPART_H

/*
 * The name without what a compiler or linker adds anew with each build: clones (".constprop.0",
 * " [clone .part.0]", ".cold"), ThinLTO's ".llvm.123", Rust's "::h0123456789abcdef" where nobody
 * has taken it away, and the "_[i]" of inlined functions in folded stacks. To be freed.
 */
char *counterpart_function(const char *name);

/* The file's own name, without the version of a shared library: "libz.so.1.3" is "libz.so". To be
 * freed. */
char *counterpart_file(const char *path);

#endif
