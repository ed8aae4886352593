/*
 * Names the bodies of Rust's async functions and blocks.
 *
 * rustc compiles such a body to a separate function. Its linkage name only
 * identifies it as a closure, "shop::cart::{{closure}}" (v0: "{closure#0}").
 * DW_AT_name contains the kind: "{async_fn#0}", "{async_block#3}",
 * "{async_closure#0}", "{gen_fn#0}", followed by the generic arguments
 * (rustc_codegen_ssa/src/debuginfo/type_names.rs).
 */
#ifndef PROF_SYMBOL_COROUTINE_NAME_H
#define PROF_SYMBOL_COROUTINE_NAME_H

/*
 * Returns the demangled name with the closure replaced by the kind from
 * DW_AT_name: "shop::cart::{async_fn#0}". Generic arguments of the coroutine
 * are omitted. Returns NULL if `name` is not that of a closure or plain_name is
 * NULL or not that of a coroutine. The caller frees the result.
 */
char *coroutine_name(const char *name, const char *plain_name);

#endif
