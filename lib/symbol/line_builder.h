/*
 * Turns what the symbol sources say about an address into a profile's lines. Each thread has a
 * builder of its own, which demangles every distinct name once.
 */
#ifndef PROF_SYMBOL_LINE_BUILDER_H
#define PROF_SYMBOL_LINE_BUILDER_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "symbol/source.h"

#include <stddef.h>
#include <stdint.h>

/* One function at one place. Strings live as long as the builder and the sources. */
struct symbolized_line {
	const char *name;	 /* of parts and copies the function's (profile/fragment.h) */
	const char *system_name; /* the symbol, with its suffixes */
	const char *file;	 /* "" when unknown */
	uint32_t start_line, line;
};

/* Innermost first; count 0 if the address has no symbol. */
struct symbolized {
	const struct symbolized_line *lines;
	unsigned count;
	uint64_t into_function; /* of an address without a symbol: the bytes from the start of its
				   function; 0: unknown */
};

struct line_builder;

struct line_builder *line_builder_new(void);
void line_builder_free(struct line_builder *builder);
DEFINE_CLEANUP(line_builder, line_builder_free)

/* The arena for inline chains, which the results point into. */
struct arena *line_builder_arena(struct line_builder *builder);

/* False for a mangled name that no demangler reads. For struct dwarf_demangler, with a builder. */
bool line_builder_can_demangle(void *builder, const char *linker_name);

/* vaddr: in the source's file. chain: from DWARF or Go's table; may be empty. */
struct symbolized line_builder_lines(struct line_builder *builder, const struct source *source,
				     uint64_t vaddr, struct inline_chain chain);
/* A function of the kernel; name may be NULL. */
struct symbolized line_builder_kernel(struct line_builder *builder, const char *name);
/* A symbol from a list; name may be NULL. */
struct symbolized line_builder_listed(struct line_builder *builder, const char *name,
				      const struct listed_line *line);

#endif
