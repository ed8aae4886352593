/*
 * Finds the functions of a unit, and the functions inlined into them, that
 * cover addresses. It is the counterpart of dwarf/chain.h for libdw.
 */
#ifndef PROF_SYMBOL_LIBDW_SCOPES_H
#define PROF_SYMBOL_LIBDW_SCOPES_H

#include "symbol/libdw_walk.h"

/* A function with code, or an inlined function. */
struct libdw_scope {
	Dwarf_Die die;
	uint32_t parent; /* index of the enclosing scope */
	/*
	 * The function itself, or the one that it is inlined into at any level.
	 */
	uint32_t physical;
	uint32_t level; /* inlining depth */
	bool is_used;
};

struct libdw_scopes {
	struct libdw_scope *items;
	size_t count, room;
};

#define LIBDW_NO_SCOPE UINT32_MAX

/*
 * Fills `scopes`, which must be zero-initialized. `vaddrs` must be ascending.
 * Sets innermost[i] to the innermost scope of vaddrs[i], or to LIBDW_NO_SCOPE.
 * `budget` limits the work for the unit.
 */
void libdw_scopes_find(struct libdw_scopes *scopes, Dwarf_Die *unit, struct libdw_budget budget,
		       const uint64_t *vaddrs, size_t count, uint32_t *innermost);
void libdw_scopes_deinit(struct libdw_scopes *scopes);

#endif
