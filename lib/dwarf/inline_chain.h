/*
 * An inline chain: the physical function at an address and the functions
 * inlined into it there.
 */
#ifndef PROF_DWARF_INLINE_CHAIN_H
#define PROF_DWARF_INLINE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A function at one place. Strings are borrowed from the ELF file's sections or
 * allocated in the caller's arena.
 */
struct call {
	/*
	 * The linkage name, or else the name qualified by namespaces and types.
	 * NULL if unknown.
	 */
	const char *name;
	bool is_linkage_name;
	/*
	 * Set if `name` is a linkage name. The name without scopes, which
	 * distinguishes the bodies of Rust's async functions and blocks from
	 * closures, "{async_fn#0}<u32>". It includes the scopes if the linkage
	 * name cannot be demangled. NULL if unknown.
	 */
	const char *plain_name;
	/* Full path as written by the compiler. NULL if unknown. */
	const char *file;
	/* The line that runs or calls the next inner function. 0 if unknown. */
	uint32_t line;
	/* Line of the function's declaration. 0 if unknown. */
	uint32_t start_line;
	/* File of the function's declaration. NULL if unknown. */
	const char *decl_file;
};

/*
 * Innermost call first; the last one is the physical function. Assembly often
 * has lines but no functions, which results in one call without a name.
 */
struct inline_chain {
	const struct call *calls;
	unsigned count; /* 0 if the address is unknown */
};

/* Tests whether a linkage name can be demangled. */
struct dwarf_demangler {
	bool (*can_demangle)(void *user, const char *linkage_name);
	void *user;
};

#endif
