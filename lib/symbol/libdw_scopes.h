/*
 * The functions of a unit, and the functions inlined into them, that cover addresses: as
 * dwarf/chain.h, with libdw.
 */
#ifndef PROF_SYMBOL_LIBDW_SCOPES_H
#define PROF_SYMBOL_LIBDW_SCOPES_H

#include "symbol/libdw_walk.h"

/* A function with code, or an inlined one. */
struct libdw_scope {
	Dwarf_Die die;
	uint32_t parent;   /* the enclosing scope */
	uint32_t physical; /* the function it is, or is inlined into at any level */
	uint32_t level;	   /* of inlining */
	bool is_used;
};

struct libdw_scopes {
	struct libdw_scope *items;
	size_t count, room;
};

#define LIBDW_NO_SCOPE UINT32_MAX

/*
 * Fills zero-initialized scopes. vaddrs: ascending. innermost: the scope of each, or
 * LIBDW_NO_SCOPE. budget: of the unit.
 */
void libdw_scopes_find(struct libdw_scopes *scopes, Dwarf_Die *unit, struct libdw_budget budget,
		       const uint64_t *vaddrs, size_t count, uint32_t *innermost);
void libdw_scopes_deinit(struct libdw_scopes *scopes);

#endif
