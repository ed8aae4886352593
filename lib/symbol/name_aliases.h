/*
 * Detects functions of a file that occur with two names.
 *
 * Compilers emit no linkage name in DWARF for functions that other files cannot
 * call (gcc: C++ static functions and functions in anonymous namespaces).
 * Inlined calls of such a function are then named "ns::f", but the function
 * itself, from its symbol, "ns::f(int)".
 */
#ifndef PROF_SYMBOL_NAME_ALIASES_H
#define PROF_SYMBOL_NAME_ALIASES_H

#include "base/bytes.h"
#include "symbol/reply.h"

#include <stdint.h>

/*
 * Returns for each function of the reply the function whose name it gets,
 * usually itself. A DWARF name is replaced by a symbol's name if exactly one
 * symbol belongs to a function that is declared on the same line and has the
 * same name except for parameters and return type. The caller frees the result.
 */
uint32_t *name_aliases_of(const struct reply *reply);

/*
 * Returns true if both names are of one function. Example: `plain` is
 * "ns::f<int>" and `demangled` is "long ns::f<int>(int)".
 */
bool name_alias_is_of(struct bytes plain, struct bytes demangled);

#endif
