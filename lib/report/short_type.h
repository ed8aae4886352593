/*
 * Formats types in short names (short_name.h has the rules): each type has only
 * its own name, without scopes.
 */
#ifndef PROF_REPORT_SHORT_TYPE_H
#define PROF_REPORT_SHORT_TYPE_H

#include "report/name_parts.h"
#include "report/name_text.h"

/*
 * Returns whether the type is a type parameter such as "T", which Rust's legacy
 * mangling does not replace. Types have paths.
 */
bool short_type_is_parameter(struct span type);
/* Returns whether the type is "basic_string<char>", which is std::string. */
bool short_type_is_string(const struct name_part *type);

/*
 * Adds a closure: "{{closure}}" becomes "{closure}", "{lambda(int)#1}" becomes
 * "{lambda#1}".
 */
void short_type_add_closure(struct name_text *text, struct span word);
/*
 * Adds types: "&[Item]", "dyn Fn(u64)", "char const*". nested: with their
 * arguments, "Vec<Item>". Brackets limit the depth.
 */
void short_type_add(struct name_text *text, struct span types, bool is_rust, bool nested);
/*
 * Adds "<…>", the arguments of a type. Nested arguments are included if they
 * are short, or if `all` is set. Adds nothing if the arguments are not
 * informative or too long.
 */
void short_type_add_arguments(struct name_text *text, struct span args, bool is_rust, bool all);

#endif
