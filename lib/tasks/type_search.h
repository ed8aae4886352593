/*
 * Searches types for what they lead to: futures that an object of the type awaits, or tokio's lists
 * of tasks. A search enters structures and follows pointers by the rules of its kind.
 *
 * Depths are bounded and types may be in circles.
 */
#ifndef PROF_TASKS_TYPE_SEARCH_H
#define PROF_TASKS_TYPE_SEARCH_H

#include "dwarf/types.h"
#include "tasks/tokio_parts.h"

enum type_search_kind { SEARCH_FUTURES, SEARCH_LISTS, SEARCH_KINDS };

struct type_search;

/* Both are borrowed. */
struct type_search *type_search_new(enum type_search_kind kind, struct dwarf_types *types,
				    const struct tokio_parts *parts);
void type_search_free(struct type_search *search);

/* Whether the type leads to a target, or is one. */
bool type_search_leads(struct type_search *search, dwarf_type_id id);

/* How an object leads on. */
enum type_step {
	STEP_NONE,     /* to no target */
	STEP_POINTER,  /* it points to an object that does */
	STEP_SLICE,    /* Box<[T]>: its elements do */
	STEP_DYNAMIC,  /* Box<dyn Future> */
	STEP_TARGET,   /* it is one */
	STEP_VARIANTS, /* an enum of which a variant does */
	STEP_MEMBERS,  /* members do */
};

/* depth: of structures around the object, from 0; *type is set unless it returns STEP_NONE. */
enum type_step type_search_step(struct type_search *search, dwarf_type_id id, unsigned depth,
				struct dwarf_type *type);
/* The type of the elements of a Box<[T]>; 0: it is something else. */
dwarf_type_id type_search_element(struct type_search *search, const struct dwarf_type *type);
/* Whether the type with that full name is a target itself. */
bool type_search_is_target(const struct type_search *search, const struct dwarf_type *type,
			   const char *name);

#endif
