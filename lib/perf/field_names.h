/*
 * The names of a field's values: what perf script prints for them.
 *
 * The line "print fmt:" of a format has a format string and its arguments, expressions of C:
 *
 *	__print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })
 *	REC->prev_state & 0xff ? __print_flags(REC->prev_state & 0xff, "|", { 1, "S" }) : "R"
 *
 * The first argument that is a text and refers to this field alone names the field's values; so do
 * the arguments right after it ("%s%s"). Expressions of integers, conditions, strings and these two
 * tables are understood; casts do not narrow. A field whose argument has anything else, such as the
 * name of an enumerator, has no names.
 *
 * The text may be hostile: its length, the nesting and the length of a name are bounded.
 * Source: include/trace/stages/stage3_trace_output.h, kernel/trace/trace_output.c.
 */
#ifndef PROF_PERF_FIELD_NAMES_H
#define PROF_PERF_FIELD_NAMES_H

#include "perf/tracepoint_format.h"

/* Borrows the format. Zeroed: without names. */
struct field_names {
	const char *arguments; /* in the format's text; NULL: there are none */
	unsigned count;	       /* of arguments whose texts follow each other */
	const char *field;
};

struct field_names field_names_of(const struct tracepoint_format *format,
				  const struct tracepoint_field *field);

/* Writes at most size bytes without a NUL, and returns how many. 0: the value has no name. */
size_t field_names_write(const struct field_names *names, uint64_t value, char *text, size_t size);
/* The value with this name in a table, or 0 by its name. False: no value has it. */
bool field_names_find(const struct field_names *names, struct bytes name, uint64_t *ret);
/* For messages: "R, S, D, T". The caller frees it. */
char *field_names_list(const struct field_names *names);

#endif
