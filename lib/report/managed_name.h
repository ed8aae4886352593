/*
 * Short forms of function names with packages or paths: Java, Python and Go.
 * Their last parts are the useful ones.
 *
 * - Java, as the JVM and its agents write it, loses the package, the return type
 *   and the parameters: "ThreadPoolExecutor.getTask". A hidden class loses its
 *   address: "Shop$$Lambda$3.apply".
 * - Python keeps the last part of the file: "py::pure:/srv/batch.py" becomes
 *   "pure (batch.py)", "pure (/srv/batch.py:9)" becomes "pure (batch.py:9)".
 * - Go loses the path of the package and type arguments: "pkg.(*Server).Handle".
 */
#ifndef PROF_REPORT_MANAGED_NAME_H
#define PROF_REPORT_MANAGED_NAME_H

/* Returns the short form, which the caller frees, or NULL for other names. */
char *managed_name_short(const char *name);

#endif
