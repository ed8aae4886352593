/*
 * Names of functions and where they are declared. Often these are not in the entry that has the
 * code but in the abstract function or declaration it refers to, which may be in another unit.
 */
#ifndef PROF_DWARF_NAME_H
#define PROF_DWARF_NAME_H

#include "dwarf/inline_chain.h"
#include "dwarf/reader.h"

struct dwarf_function {
	const char *name; /* NULL: none */
	bool is_linkage_name;
	const char *plain_name; /* beside a linkage name, DW_AT_name, qualified if the linkage name
				   cannot be demangled; NULL: none */
	const char *decl_file;	/* NULL: unknown */
	uint32_t decl_line;	/* 0: unknown */
};

/* Functions by the number that dwarf_names_add() returns. */
struct dwarf_names {
	struct dwarf_reader *reader;
	const struct dwarf_demangler *demangler; /* NULL: all can be demangled */
	struct dwarf_function *functions;
	size_t count, room;
	struct idmap ids; /* by offset of the entry, file */
	/* Names that still lack their namespaces and types. */
	struct dwarf_unqualified *unqualified;
	size_t unqualified_count, unqualified_room;
};

void dwarf_names_init(struct dwarf_names *names, struct dwarf_reader *reader);
void dwarf_names_deinit(struct dwarf_names *names);

uint32_t dwarf_names_add(struct dwarf_names *names, struct dwarf_reference function);
/*
 * After all functions are added: qualifies the names that are not linkage names, and those beside a
 * linkage name that cannot be demangled, "space::type::name", as demanglers write them. An entry
 * does not refer to its parent, so this scans each unit concerned.
 */
void dwarf_names_qualify(struct dwarf_names *names);

#endif
