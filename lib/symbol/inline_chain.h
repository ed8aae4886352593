/*
 * The functions at an address: the physical one, and those inlined into it there.
 */
#ifndef PROF_SYMBOL_INLINE_CHAIN_H
#define PROF_SYMBOL_INLINE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/* A function at a place. Strings are borrowed from the image's sections or allocated in the arena
 * given for them. */
struct call {
	const char *name; /* linkage name where there is one, else qualified by namespaces and
			     types; NULL: none */
	bool is_linkage_name;
	const char *file; /* full path as the compiler wrote it; NULL: unknown */
	uint32_t line;	  /* of the place: where it runs, or where it calls the next inner one; 0:
			     unknown */
	uint32_t start_line;   /* where the function is declared; 0: unknown */
	const char *decl_file; /* where the function is declared; NULL: unknown */
};

/* Innermost first; the last is the physical function. Assembly often has lines but no functions:
 * one call without a name. */
struct inline_chain {
	const struct call *calls;
	unsigned count; /* 0: nothing is known about the address */
};

#endif
