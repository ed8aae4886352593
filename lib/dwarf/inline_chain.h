/* Inline chain: the physical function at an address and the functions inlined into it there. */
#ifndef PROF_DWARF_INLINE_CHAIN_H
#define PROF_DWARF_INLINE_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A function at one place. Strings are borrowed from the ELF file's sections or allocated in the
 * caller's arena.
 */
struct call {
	const char *name; /* linkage name if there is one, else qualified by namespaces and types;
			     NULL if unknown */
	bool is_linkage_name;
	const char *plain_name; /* beside a linkage name: the one without scopes, which tells the
				   bodies of Rust's async functions and blocks from closures,
				   "{async_fn#0}<u32>"; with scopes if the linkage name cannot
				   be demangled; NULL if unknown */
	const char *file;	/* full path as the compiler wrote it; NULL: unknown */
	uint32_t line;		/* where it runs, or calls the next inner function; 0 if unknown */
	uint32_t start_line;	/* where the function is declared; 0: unknown */
	const char *decl_file;	/* where the function is declared; NULL: unknown */
};

/*
 * Innermost first; the last is the physical function. Assembly often has lines but no functions:
 * one call without a name.
 */
struct inline_chain {
	const struct call *calls;
	unsigned count; /* 0: the address is unknown */
};

/* Says which linkage names can be demangled. */
struct dwarf_demangler {
	bool (*can_demangle)(void *user, const char *linkage_name);
	void *user;
};

#endif
