/*
 * The names of functions as outputs show them, in one of three styles. The same functions get the
 * same names in every output.
 */
#ifndef PROF_REPORT_DISPLAY_NAMES_H
#define PROF_REPORT_DISPLAY_NAMES_H

#include "base/arena.h"

#include <stdint.h>

enum name_style {
	NAMES_FULL,	   /* as demangled */
	NAMES_SHORT,	   /* as people say them: short_name.h */
	NAMES_NO_GENERICS, /* the same without generic arguments: the instances of a generic
			      function are one function */
};

struct display_name {
	const char *full;
	const char *plain; /* what functions are told apart by: the full name; the name without
			      generics if the style is NAMES_NO_GENERICS */
	uint32_t line;	   /* where a closure begins; 0: unknown, or not a closure */
	const char *shown; /* the result */
};

/*
 * Sets `shown`; the strings are in the arena or are those of the names. Names that differ stay
 * different: of functions whose short names are the same, as much more is shown as tells them
 * apart: types in brackets and parameters, or all of the name; of closures that differ in nothing
 * else, the line they begin at: "main::{closure:41}". The result does not depend on the order of
 * the names.
 */
void display_names_resolve(struct display_name *names, uint32_t count, enum name_style style,
			   struct arena *arena);

#endif
