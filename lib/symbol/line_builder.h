/*
 * Converts the results of the symbol sources for an address into a profile's
 * lines. Each thread has its own builder, which demangles each distinct name
 * once.
 */
#ifndef PROF_SYMBOL_LINE_BUILDER_H
#define PROF_SYMBOL_LINE_BUILDER_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "symbol/source.h"

#include <stddef.h>
#include <stdint.h>

/*
 * One function at one place. The strings live as long as the builder and the
 * sources.
 */
struct symbolized_line {
	/*
	 * For a part or copy of a function, the name of the function
	 * (profile/fragment.h).
	 */
	const char *name;
	const char *system_name; /* the symbol, with its suffixes */
	const char *file;	 /* "" if unknown */
	uint32_t start_line, line;
};

/*
 * The lines of an address, innermost first. count is 0 if the address has no
 * symbol.
 */
struct symbolized {
	const struct symbolized_line *lines;
	unsigned count;
	/*
	 * For an address without a symbol: the distance from the start of its
	 * function in bytes, or 0 if unknown.
	 */
	uint64_t into_function;
};

struct line_builder;

struct line_builder *line_builder_new(void);
void line_builder_free(struct line_builder *builder);
DEFINE_CLEANUP(line_builder, line_builder_free)

/* Returns the arena to allocate inline chains in. The results point into it. */
struct arena *line_builder_arena(struct line_builder *builder);

/*
 * Returns false if the name is mangled and no demangler supports it. For struct
 * dwarf_demangler; `builder` is a struct line_builder.
 */
bool line_builder_can_demangle(void *builder, const char *linker_name);

/*
 * Returns the lines of an address. vaddr is an address in the source's file.
 * `chain` comes from DWARF or Go's function table and may be empty.
 */
struct symbolized line_builder_lines(struct line_builder *builder, const struct source *source,
				     uint64_t vaddr, struct inline_chain chain);
/* Returns the line of a kernel function. `name` may be NULL. */
struct symbolized line_builder_kernel(struct line_builder *builder, const char *name);
/* Returns the line of JIT code from a map or jitdump. `name` may be NULL. */
struct symbolized line_builder_listed(struct line_builder *builder, const char *name,
				      const struct listed_line *line);

#endif
