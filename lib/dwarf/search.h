/*
 * Searches all units of a file for the addresses of a source line and for the
 * call sites of inlined functions.
 *
 * Use this only to go from names to addresses; dwarf.h is faster for everything
 * else. Split units (.dwo) are not opened. Their function entries are not
 * searched, but their lines are.
 */
#ifndef PROF_DWARF_SEARCH_H
#define PROF_DWARF_SEARCH_H

#include "base/arena.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_line_search {
	const char *file; /* a path or its last components: "src/main.rs" */
	uint32_t line;

	/*
	 * The result. Each address is the first of consecutive instructions of
	 * the line.
	 */
	uint64_t *vaddrs;
	size_t count, room;
	/* A file with that name exists and has code. */
	bool has_file;
	/* The closest lines of that file with code, or 0 if there are none. */
	uint32_t before, after;
};

/*
 * Everything except `file` and `line` must be zero-initialized. `alt` is dwz's
 * supplementary file, or NULL.
 */
void dwarf_search_line(struct dwarf_line_search *search, struct elf_file *debug,
		       struct elf_file *alt);
void dwarf_line_search_deinit(struct dwarf_line_search *search);

/*
 * A function that is inlined at least once. Strings are valid until the arena
 * is emptied.
 */
struct dwarf_inlined {
	const char *name;	 /* linkage name if there is one */
	const char *caller_file; /* file of a call site; NULL if unknown */
	uint32_t caller_line;
};

/* Calls found() once for each inlined function, until it returns true. */
void dwarf_search_inlined(struct elf_file *debug, struct elf_file *alt, struct arena *arena,
			  bool (*found)(void *user, const struct dwarf_inlined *inlined),
			  void *user);

#endif
