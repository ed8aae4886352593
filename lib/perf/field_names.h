/*
 * Translates values of a tracepoint field into names, as perf script prints
 * them, and back.
 *
 * The line "print fmt:" of a format has a format string and its arguments,
 * which are C expressions:
 *
 * 	__print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })
 * 	REC->prev_state & 0xff ?
 * 		__print_flags(REC->prev_state & 0xff, "|", { 1, "S" }) : "R"
 *
 * A field's names come from the first string argument that refers to this field
 * alone, and from the arguments directly after it ("%s%s"). The parser
 * understands expressions of integers, conditions, strings and these two
 * tables; casts do not narrow. If the argument contains anything else, such as
 * the name of an enumerator, the field has no names.
 *
 * The text is untrusted: its length, the nesting and the length of a name are
 * bounded.
 *
 * Source: include/trace/stages/stage3_trace_output.h,
 * kernel/trace/trace_output.c.
 */
#ifndef PROF_PERF_FIELD_NAMES_H
#define PROF_PERF_FIELD_NAMES_H

#include "perf/tracepoint_format.h"

/* Borrows the format. Zeroed: without names. */
struct field_names {
	/* Part of the format's text, or NULL without names. */
	const char *arguments;
	/* Number of consecutive arguments that name the value. */
	unsigned count;
	const char *field;
};

struct field_names field_names_of(const struct tracepoint_format *format,
				  const struct tracepoint_field *field);

/* Writes the name without a NUL, at most size bytes, and returns its length.
 * Returns 0 if the value has no name. */
size_t field_names_write(const struct field_names *names, uint64_t value, char *text, size_t size);
/* Finds the value with this name in a table; the name of the value 0 is found,
 * too. Returns false if no value has the name. */
bool field_names_find(const struct field_names *names, struct bytes name, uint64_t *ret);
/* Returns the names for a message ("R, S, D, T"). The caller frees it. */
char *field_names_list(const struct field_names *names);

#endif
