/*
 * The parts of a demangled function's name, as Rust's and C++'s demanglers write it:
 * "int ns::Type<Args>::method<T>(int) const" and "<Type<T> as Trait>::method::{closure#0}".
 */
#ifndef PROF_REPORT_NAME_PARTS_H
#define PROF_REPORT_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

/* From at to end, which is not part of it. */
struct span {
	const char *at, *end;
};

struct name_part {
	struct span word; /* without arguments; "<…>" with its brackets if that is the part */
	struct span args; /* "<…>" after it, with the brackets; empty: none */
};

enum { NAME_PARTS_MAX = 32 };

struct name_parts {
	struct name_part items[NAME_PARTS_MAX]; /* between "::" */
	size_t count;
	bool has_parameters; /* "(…)" after a part, as in C++ */
};

/* False if brackets are unbalanced, or the name has no or too many parts. Parameters, qualifiers
 * and the return type are no parts. */
bool name_parts_parse(struct span name, struct name_parts *ret);

struct span span_of(const char *text);
size_t span_bytes(struct span span);
bool span_is(struct span span, const char *text);
/* words: the last is followed by NULL. */
bool span_is_one_of(struct span span, const char *const *words);
bool span_begins(struct span span, const char *text);

/* "{{closure}}", "{closure#0}", "{lambda(int)#1}", but not "{impl#0}". */
bool name_part_is_closure(const struct name_part *part);
/* The part is "<…>": a type in brackets, or an impl block. */
bool name_part_is_type(const struct name_part *part);

/* The bytes of what is in brackets from here on, with the brackets; 0 if it has no end. */
size_t name_bracket_bytes(struct span from);
/* Splits a list at the first comma outside brackets: the first item is returned, with the spaces
 * around it removed. */
struct span name_take_item(struct span *list);

/* A letter, a digit, "_", or a byte of a character that is not ASCII. */
bool name_is_word(char c);

#endif
