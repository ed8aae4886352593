/* Finds the functions of a unit, and the functions inlined into them, that cover an address. */
#ifndef PROF_DWARF_CHAIN_H
#define PROF_DWARF_CHAIN_H

#include "dwarf/range_index.h"
#include "dwarf/view.h"

#define DWARF_NO_SCOPE UINT32_MAX

/* A function with code, or an inlined one. */
struct dwarf_scope {
	struct dwarf_die die;
	uint32_t parent;     /* the enclosing scope */
	uint32_t physical;   /* the physical function it is, or is inlined into at any level */
	uint32_t level;	     /* of inlining; 0: the physical function */
	uint32_t first, end; /* addresses of the physical function are among these */
	bool is_used;	     /* it, or a scope in it, is the innermost scope of an address */

	/* Of those that are used: */
	struct dwarf_reference function; /* the entry that names it */
	bool has_call_file;
	uint64_t call_file; /* of an inlined function: where it is called */
	uint32_t call_line;
};

struct dwarf_scopes {
	struct dwarf_scope *items;
	size_t count, room;
	bool are_damaged; /* the unit was not read to its end */
};

/*
 * vaddrs: ascending. innermost: the scope of each, or DWARF_NO_SCOPE; if several cover an address,
 * the deepest. Zero-initialized `scopes` is empty. Scans the unit once and fills `index`; later
 * calls scan only the functions that `index` lists. index: NULL if the unit is not read again.
 *
 * The search is prepared, its parts are run, each once and by any thread, and it is finished. Its
 * arguments are borrowed. The result does not depend on the number of parts: entries have no
 * marks, so a part begins at a guess, and counts only if the part before it arrives exactly there.
 */
struct dwarf_scope_search *dwarf_scope_search_new(const struct dwarf_view *view,
						  struct dwarf_range_index *index,
						  const uint64_t *vaddrs, size_t count,
						  uint64_t part_bytes);
size_t dwarf_scope_search_parts(const struct dwarf_scope_search *search);
void dwarf_scope_search_run(struct dwarf_scope_search *search, size_t part);
/* Frees the search. */
void dwarf_scope_search_finish(struct dwarf_scope_search *search, struct dwarf_scopes *scopes,
			       uint32_t *innermost);
void dwarf_scopes_deinit(struct dwarf_scopes *scopes);

#endif
