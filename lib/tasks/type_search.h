/*
 * Searches types for targets that their objects lead to: futures that an object
 * awaits, or tokio's lists of tasks. The kind of a search determines which
 * structures it enters and which pointers it follows.
 *
 * Depths are bounded, and cycles of types are allowed.
 */
#ifndef PROF_TASKS_TYPE_SEARCH_H
#define PROF_TASKS_TYPE_SEARCH_H

#include "dwarf/types.h"
#include "tasks/tokio_parts.h"

enum type_search_kind { SEARCH_FUTURES, SEARCH_LISTS, SEARCH_KINDS };

struct type_search;

/* Borrows both arguments. */
struct type_search *type_search_new(enum type_search_kind kind, struct dwarf_types *types,
				    const struct tokio_parts *parts);
void type_search_free(struct type_search *search);

/* Returns whether the type is a target or leads to one. */
bool type_search_leads(struct type_search *search, dwarf_type_id id);

/* How an object leads to a target. */
enum type_step {
	STEP_NONE,     /* it does not */
	STEP_POINTER,  /* it points to an object that does */
	STEP_SLICE,    /* Box<[T]> with elements that do */
	STEP_DYNAMIC,  /* Box<dyn Future> */
	STEP_TARGET,   /* it is a target */
	STEP_VARIANTS, /* an enum with a variant that does */
	STEP_MEMBERS,  /* it has members that do */
};

/*
 * Returns how objects of the type lead to a target, and sets *type unless that
 * is STEP_NONE. `depth` is the number of structures around the object.
 */
enum type_step type_search_step(struct type_search *search, dwarf_type_id id, unsigned depth,
				struct dwarf_type *type);
/* Returns the element type of a Box<[T]>, or 0 for other types. */
dwarf_type_id type_search_element(struct type_search *search, const struct dwarf_type *type);
/* Returns whether the type with this full name is itself a target. */
bool type_search_is_target(const struct type_search *search, const struct dwarf_type *type,
			   const char *name);

#endif
