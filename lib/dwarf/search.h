/*
 * Searches all units of a file: the addresses of a source line, and where a function is inlined.
 *
 * For the few questions that go from names to addresses; dwarf.h answers all others faster. Split
 * units (.dwo) are not opened: they lack the entries of functions here, not the lines.
 */
#ifndef PROF_DWARF_SEARCH_H
#define PROF_DWARF_SEARCH_H

#include "base/arena.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_line_search {
	const char *file; /* a path, or its last components: "src/main.rs" */
	uint32_t line;

	/* The result. Each is the first of consecutive instructions of the line. */
	uint64_t *vaddrs;
	size_t count, room;
	bool has_file;		/* there are files of that name, which have code … */
	uint32_t before, after; /* … on these lines next to it; 0: on none */
};

/* Zero but for file and line. alt: dwz's supplementary file, or NULL. */
void dwarf_search_line(struct dwarf_line_search *search, struct elf_file *debug,
		       struct elf_file *alt);
void dwarf_line_search_deinit(struct dwarf_line_search *search);

/* A function that is inlined somewhere. Strings are borrowed until the arena is emptied. */
struct dwarf_inlined {
	const char *name;	 /* linkage name if there is one */
	const char *caller_file; /* where it is called; NULL: unknown */
	uint32_t caller_line;
};

/* Calls found() for each function that is inlined, once, until it returns true. */
void dwarf_search_inlined(struct elf_file *debug, struct elf_file *alt, struct arena *arena,
			  bool (*found)(void *user, const struct dwarf_inlined *inlined),
			  void *user);

#endif
