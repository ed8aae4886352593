/*
 * The names of functions in outputs, in one of three styles. A function has the
 * same name in every output.
 */
#ifndef PROF_REPORT_DISPLAY_NAMES_H
#define PROF_REPORT_DISPLAY_NAMES_H

#include "base/arena.h"

#include <stdint.h>

enum name_style {
	NAMES_FULL,  /* as demangled */
	NAMES_SHORT, /* short for reading: short_name.h */
	/*
	 * Short and without generic arguments: all instantiations of a generic
	 * function are one function.
	 */
	NAMES_NO_GENERICS,
};

struct display_name {
	const char *full;
	/*
	 * Identifies the function: the full name, or the name without generics
	 * if the style is NAMES_NO_GENERICS.
	 */
	const char *plain;
	uint32_t line;	   /* where a closure starts; 0 if unknown or not a closure */
	const char *shown; /* the result */
};

/*
 * Sets `shown`. The strings are in the arena or borrowed from the names.
 * Different names stay different. If short names are equal, more of the name is
 * shown to distinguish them: types in brackets and parameters, or the whole
 * name. Closures that differ only in the line where they start get that line:
 * "main::{closure:41}". The result does not depend on the order of the names.
 */
void display_names_resolve(struct display_name *names, uint32_t count, enum name_style style,
			   struct arena *arena);

#endif
