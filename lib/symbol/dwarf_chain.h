/*
 * Which functions of a unit, and which functions inlined into them, cover an address.
 */
#ifndef PROF_SYMBOL_DWARF_CHAIN_H
#define PROF_SYMBOL_DWARF_CHAIN_H

#include "symbol/dwarf_parts.h"
#include "symbol/dwarf_view.h"

#define DWARF_NO_SCOPE UINT32_MAX

/* A function with code, or one inlined. */
struct dwarf_scope {
	struct dwarf_die die;
	uint32_t parent;   /* the scope around it */
	uint32_t physical; /* the function it is, or is inlined into, at any level */
	uint32_t level;	   /* of inlining: 0 is the physical function */
	bool is_used;	   /* it, or a scope in it, is the innermost of an address */

	/* Of those that are used: */
	struct dwarf_reference function; /* the entry that names it */
	bool has_call_file;
	uint64_t call_file; /* of an inlined one: where it is called */
	uint32_t call_line;
};

struct dwarf_scopes {
	struct dwarf_scope *items;
	size_t count, room;
};

/*
 * vaddrs: ascending. innermost: of each the scope, or DWARF_NO_SCOPE. Of several that cover an
 * address the deepest is taken. A zeroed `scopes` is an empty one. Scans the unit once, or of it
 * the functions that `parts` says once they are made, which this does; NULL: nobody comes again.
 */
void dwarf_scopes_find(struct dwarf_scopes *scopes, const struct dwarf_view *view,
		       struct dwarf_parts *parts, const uint64_t *vaddrs, size_t count,
		       uint32_t *innermost);
void dwarf_scopes_deinit(struct dwarf_scopes *scopes);

#endif
