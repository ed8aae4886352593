/*
 * Names of functions as the stackcollapse tools make them of those in the text of perf script, so
 * that flame graphs of both are the same: without arguments, and without what perf does not
 * demangle. Source: stackcollapse-perf.pl of FlameGraph; inferno-collapse-perf.
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_NAME_H
#define PROF_FORMAT_PERF_SCRIPT_NAME_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes the name without its arguments: "a::b(int)" is "a::b". "(anonymous namespace)" stays, as
 * does the receiver of a Go method, "net/http.(*Client).Do". Rust's escapes are replaced, and its
 * hash removed: "_$LT$T$GT$::f::h0123456789abcdef" is "<T>::f". is_java: of a process called java,
 * whose classes lose their first letter: "Lorg/x/Y;::f" is "org/x/Y;::f".
 */
void script_name_write(struct bytes name, bool is_java, FILE *out);

/* Whether a module is code that a JIT compiler made: "/tmp/perf-12.map", "/tmp/jitted-12-3.so". */
bool script_module_is_jit(struct bytes module);
/* Whether a module is the kernel or one of its modules: "[nf_nat]", "…/vmlinux-5.4", "….ko". */
bool script_module_is_kernel(struct bytes module);

#endif
