/*
 * Splits a demangled function name of Rust or C++ into its parts: "int
 * ns::Type<Args>::method<T>(int) const" and "<Type<T> as
 * Trait>::method::{closure#0}".
 */
#ifndef PROF_REPORT_NAME_PARTS_H
#define PROF_REPORT_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* The characters from `at` to before `end`. */
struct span {
	const char *at, *end;
};

struct name_part {
	struct span word; /* without arguments; "<…>" with its brackets if that is the part */
	struct span args; /* the "<…>" after it, with the brackets; empty: none */
};

enum { NAME_PARTS_MAX = 32 };

struct name_parts {
	struct name_part items[NAME_PARTS_MAX]; /* between "::" */
	size_t count;
	bool has_parameters; /* "(…)" follows a part, as in C++ */
};

/*
 * Parses a name. Returns false if brackets are unbalanced, or if the name has
 * no parts or too many. Parameters, qualifiers and the return type are not
 * parts.
 */
bool name_parts_parse(struct span name, struct name_parts *ret);

struct span span_of(const char *text);
size_t span_bytes(struct span span);
bool span_is(struct span span, const char *text);
/* words: NULL-terminated. */
bool span_is_one_of(struct span span, const char *const *words);
bool span_begins(struct span span, const char *text);

/*
 * Returns true for "{{closure}}", "{closure#0}" and "{lambda(int)#1}", but not
 * for "{impl#0}".
 */
bool name_part_is_closure(const struct name_part *part);
/* Returns whether the part is "<…>": a type in brackets, or an impl block. */
bool name_part_is_type(const struct name_part *part);

/*
 * Returns the length of the bracketed text at the start of a span, including
 * the brackets, or 0 if the bracket is not closed.
 */
size_t name_bracket_bytes(struct span from);
/*
 * Splits a list at the first comma outside brackets. Returns the first item
 * without the spaces around it.
 */
struct span name_take_item(struct span *list);

/*
 * Returns true for a letter, a digit, "_", and a byte of a non-ASCII character.
 */
bool name_is_word(char c);

#endif
