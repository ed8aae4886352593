/*
 * Names of functions as people say them, from the full names that demanglers write.
 *
 * The rules:
 * - Of a path, the first part and the last two stay, so that the crate or library and the type
 *   are seen: "tokio::Context::run_task". The crates of Rust's standard library are left out, as in
 *   "Vec::push". Parts that are closures stay, with the function around them; the body of an async
 *   function is that function, "shop::query (async)", and an async block is one of the function
 *   around it, "shop::main (async block #1)".
 * - Of types in brackets, only their own names stay, of at most 20 bytes together; otherwise the
 *   brackets are left out. Type parameters of Rust that are not filled in ("T") and default
 * arguments of C++ (allocators, char_traits, …) say nothing and are left out, and so are
 * parameters, return types and the suffixes of clones. A Rust function's own generic arguments are
 * left out, except those of drop_in_place, which is a function of the type.
 * - "<Type as Trait>::method" becomes "Type::method" only where that is a path that means this
 *   function: the type has a name of its own, and the method's name belongs to one trait. The trait
 *   stays for types that are built in ("<u8 as SliceOrd>::compare"), for closures, and for `fmt`,
 *   which Debug, Display and others have. Of a type parameter nothing is known, so the trait stands
 *   alone: "<A as SliceOrd>::compare" becomes "SliceOrd::compare".
 * - Names of C, of scripts and of the kernel, and names that are not understood, stay as they are.
 *
 * Two functions may get the same short name; display_names.h tells them apart.
 */
#ifndef PROF_REPORT_SHORT_NAME_H
#define PROF_REPORT_SHORT_NAME_H

#include <stdbool.h>

/* The generic arguments in a short name. */
enum name_generics {
	GENERICS_NONE,
	GENERICS_SHORT, /* those of types, by the rules */
	GENERICS_ALL,	/* without scopes, but for defaults and parameters */
};

/* To be freed. */
char *short_name(const char *name, enum name_generics generics);

/*
 * The full name without generic arguments, parameters and the return type:
 * "std::vector::push_back",
 * "<alloc::vec::Vec as core::iter::Extend>::extend". Instances of one generic function have the
 * same. To be freed.
 */
char *name_without_generics(const char *name);

/* The last part is a closure or a lambda: "main::{closure#0}". */
bool name_is_closure(const char *name);

#endif
