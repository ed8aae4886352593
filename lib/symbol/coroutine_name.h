/*
 * The names of the bodies of Rust's async functions and blocks.
 *
 * rustc compiles such a body to a function of its own. Its linker name says only that it is a
 * closure, "shop::cart::{{closure}}" (v0: "{closure#0}"); DW_AT_name says what it is:
 * "{async_fn#0}", "{async_block#3}", "{async_closure#0}", "{gen_fn#0}", with the generic arguments
 * at its end (rustc_codegen_ssa/src/debuginfo/type_names.rs).
 */
#ifndef PROF_SYMBOL_COROUTINE_NAME_H
#define PROF_SYMBOL_COROUTINE_NAME_H

/*
 * The demangled name with what DW_AT_name says in the place of the closure:
 * "shop::cart::{async_fn#0}"; generic arguments of the coroutine are left out. NULL if the name is
 * not of a closure or plain_name (may be NULL) not of a coroutine; else to be freed.
 */
char *coroutine_name(const char *name, const char *plain_name);

#endif
