/*
 * Functions of one file that have two names. Compilers give functions that no other file can call
 * no linkage name in DWARF (gcc: C++'s static functions and those of anonymous namespaces), so that
 * calls that were inlined have the name "ns::f" and the function itself, by its symbol,
 * "ns::f(int)". Both are one function.
 */
#ifndef PROF_SYMBOL_SPELLINGS_H
#define PROF_SYMBOL_SPELLINGS_H

#include "base/bytes.h"
#include "symbol/reply.h"

#include <stdint.h>

/*
 * By function of the reply: the one whose name it gets, usually itself. A name of DWARF gives way
 * to the one symbol of a function that is declared at the same line and has the same name but for
 * the parameters and the return type. To be freed.
 */
uint32_t *spellings_of(const struct reply *reply);

/* plain: "ns::f<int>"; demangled: "long ns::f<int>(int)". */
bool spelling_is_of(struct bytes plain, struct bytes demangled);

#endif
