/*
 * Makes short function names for reading from the full names that demanglers
 * write.
 *
 * The rules:
 * - The first part and the last two parts of a path stay, so that the crate or
 *   library and the type are visible: "tokio::Context::run_task". The crates of
 *   Rust's standard library are omitted: "Vec::push". Closures stay, with the
 *   function around them. The body of an async function is named after the
 *   function, "shop::query (async)". An async block is named after the function
 *   around it, "shop::main (async block #1)".
 * - Types in brackets are reduced to their own names if these have at most 20
 *   bytes together; otherwise the brackets are omitted. Unresolved type
 *   parameters of Rust ("T"), default arguments of C++ (allocators,
 *   char_traits, …), parameters, return types and the suffixes of clones are
 *   omitted. The generic arguments of a Rust function are omitted, except those
 *   of drop_in_place, which identify the type.
 * - "<Type as Trait>::method" becomes "Type::method" only if that path
 *   identifies the function: the type has a name of its own, and only one trait
 *   has a method with this name. The trait stays for built-in types ("<u8 as
 *   SliceOrd>::compare"), for closures, and for `fmt`, which Debug, Display and
 *   others have. For a type parameter only the trait stays: "<A as
 *   SliceOrd>::compare" becomes "SliceOrd::compare".
 * - Java, Python and Go: see managed_name.h.
 * - Names of C, of other scripts and of the kernel, and names that cannot be
 *   parsed, stay as they are.
 *
 * Two functions may get the same short name; display_names.h distinguishes
 * them.
 */
#ifndef PROF_REPORT_SHORT_NAME_H
#define PROF_REPORT_SHORT_NAME_H

#include <stdbool.h>

/* The generic arguments in a short name. */
enum name_generics {
	GENERICS_NONE,
	GENERICS_SHORT, /* those of types, by the rules */
	GENERICS_ALL,	/* all without scopes, except defaults and parameters */
};

/* Returns the short name. The caller frees it. */
char *short_name(const char *name, enum name_generics generics);

/*
 * Returns the full name without generic arguments, parameters and the return
 * type: "std::vector::push_back", "<alloc::vec::Vec as
 * core::iter::Extend>::extend". It is the same for all instantiations of a
 * generic function. The caller frees it.
 */
char *name_without_generics(const char *name);

/*
 * Returns whether the last part is a closure or a lambda: "main::{closure#0}".
 */
bool name_is_closure(const char *name);

#endif
