/*
 * Finds the names of functions and the place of their declaration. Often these
 * are not in the entry that has the code, but in the abstract function or
 * declaration that it refers to, which may be in another unit.
 */
#ifndef PROF_DWARF_NAME_H
#define PROF_DWARF_NAME_H

#include "dwarf/inline_chain.h"
#include "dwarf/reader.h"

struct dwarf_function {
	const char *name; /* NULL if there is none */
	bool is_linkage_name;
	/*
	 * Set if `name` is a linkage name: DW_AT_name, qualified if the linkage
	 * name cannot be demangled. NULL if there is none.
	 */
	const char *plain_name;
	const char *decl_file; /* NULL if unknown */
	uint32_t decl_line;    /* 0 if unknown */
};

/* Functions by the number that dwarf_names_add() returns. */
struct dwarf_names {
	struct dwarf_reader *reader;
	const struct dwarf_demangler *demangler; /* NULL if all names can be demangled */
	struct dwarf_function *functions;
	size_t count, room;
	struct idmap ids; /* by offset of the entry and file */
	/* Names whose namespaces and types are still missing. */
	struct dwarf_unqualified *unqualified;
	size_t unqualified_count, unqualified_room;
};

/*
 * Returns true if functions of the language (DW_LANG_*) are not in named
 * scopes.
 */
bool dwarf_language_is_flat(uint64_t language);

void dwarf_names_init(struct dwarf_names *names, struct dwarf_reader *reader);
void dwarf_names_deinit(struct dwarf_names *names);

uint32_t dwarf_names_add(struct dwarf_names *names, struct dwarf_reference function);
/*
 * Qualifies names in the format of demanglers, "space::type::name". Applies to
 * names that are not linkage names, and to plain names of functions whose
 * linkage name cannot be demangled. Call after all functions have been added.
 * Scans each affected unit, because an entry does not refer to its parent.
 */
void dwarf_names_qualify(struct dwarf_names *names);

#endif
