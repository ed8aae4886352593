/*
 * Finds the functions of a unit, and the functions inlined into them, that
 * cover an address.
 */
#ifndef PROF_DWARF_CHAIN_H
#define PROF_DWARF_CHAIN_H

#include "dwarf/range_index.h"
#include "dwarf/view.h"

#define DWARF_NO_SCOPE UINT32_MAX

/* A function with code, or an inlined function. */
struct dwarf_scope {
	struct dwarf_die die;
	uint32_t parent; /* index of the enclosing scope */
	/*
	 * The physical function: the scope itself, or the one that it is
	 * inlined into at any level.
	 */
	uint32_t physical;
	uint32_t level;	     /* inlining depth; 0 for the physical function */
	uint32_t first, end; /* the addresses in the physical function are among these */
	bool is_used;	     /* it or a scope in it is the innermost scope of an address */

	/* The following members are set only if is_used is true. */
	struct dwarf_reference function; /* the entry that names the function */
	bool has_call_file;
	uint64_t call_file; /* call site of an inlined function */
	uint32_t call_line;
};

struct dwarf_scopes {
	struct dwarf_scope *items;
	size_t count, room;
	bool are_damaged; /* the unit could not be read to its end */
};

/*
 * Finds the innermost scope of each address and stores it in innermost[i], or
 * DWARF_NO_SCOPE. `vaddrs` must be ascending. If several scopes cover an
 * address, the deepest one is used. `scopes` must be zero-initialized.
 *
 * The first search scans the whole unit and fills `index`; later ones scan only
 * the functions that `index` lists. `index` is NULL if the unit will not be
 * read again.
 *
 * A search consists of three steps: create it, run each of its parts once, in
 * any thread, and finish it. It borrows its arguments. The result does not
 * depend on the number of parts. Entries have no markers, so the start of a
 * part is a guess. A part is used only if the previous one ends exactly at its
 * start.
 */
struct dwarf_scope_search *dwarf_scope_search_new(const struct dwarf_view *view,
						  struct dwarf_range_index *index,
						  const uint64_t *vaddrs, size_t count,
						  uint64_t part_bytes);
size_t dwarf_scope_search_parts(const struct dwarf_scope_search *search);
void dwarf_scope_search_run(struct dwarf_scope_search *search, size_t part);
/* Stores the result and frees the search. */
void dwarf_scope_search_finish(struct dwarf_scope_search *search, struct dwarf_scopes *scopes,
			       uint32_t *innermost);
void dwarf_scopes_deinit(struct dwarf_scopes *scopes);

#endif
