/*
 * Converts function names in the text of perf script like the stackcollapse
 * tools do, so that flame graphs of both are equal: without arguments and
 * without mangling that perf does not resolve. Source: stackcollapse-perf.pl of
 * FlameGraph; inferno-collapse-perf.
 */
#ifndef PROF_FORMAT_PERF_SCRIPT_NAME_H
#define PROF_FORMAT_PERF_SCRIPT_NAME_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes the name without its arguments: "a::b(int)" becomes "a::b".
 * "(anonymous namespace)" stays, like the receiver of a Go method,
 * "net/http.(*Client).Do". Rust's escapes are replaced and its hash removed:
 * "_$LT$T$GT$::f::h0123456789abcdef" becomes "<T>::f". is_java: the process is
 * called java, and its classes lose their first letter: "Lorg/x/Y;::f" becomes
 * "org/x/Y;::f".
 */
void script_name_write(struct bytes name, bool is_java, FILE *out);

/*
 * Returns whether a module is code of a JIT compiler: "/tmp/perf-12.map",
 * "/tmp/jitted-12-3.so".
 */
bool script_module_is_jit(struct bytes module);
/*
 * Returns whether a module is the kernel or one of its modules: "[nf_nat]",
 * "…/vmlinux-5.4", "….ko".
 */
bool script_module_is_kernel(struct bytes module);

#endif
