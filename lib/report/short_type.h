/*
 * Types as they are shown in short names (short_name.h has the rules): each with its own name
 * alone, without scopes.
 */
#ifndef PROF_REPORT_SHORT_TYPE_H
#define PROF_REPORT_SHORT_TYPE_H

#include "report/name_parts.h"
#include "report/name_text.h"

/* "T": a type parameter, which Rust's older mangling does not fill in. Types have paths. */
bool short_type_is_parameter(struct span type);
/* "basic_string<char>" is std::string. */
bool short_type_is_string(const struct name_part *type);

/* "{{closure}}" → "{closure}"; "{lambda(int)#1}" → "{lambda#1}". */
void short_type_add_closure(struct name_text *text, struct span word);
/*
 * Types: "&[Item]", "dyn Fn(u64)", "char const*"; nested: with their arguments, "Vec<Item>".
 * Brackets limit how deep this goes.
 */
void short_type_add(struct name_text *text, struct span types, bool is_rust, bool nested);
/*
 * "<…>": the arguments of a type, with theirs if they are short, or if `all` are wanted. Nothing if
 * no argument says something, or if they are too long.
 */
void short_type_add_arguments(struct name_text *text, struct span args, bool is_rust, bool all);

#endif
