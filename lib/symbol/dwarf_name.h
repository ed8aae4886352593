/*
 * Names of functions and where they are declared. Much of it is not in the entry that has the code
 * but in the abstract function or the declaration that it refers to, at times in another unit.
 */
#ifndef PROF_SYMBOL_DWARF_NAME_H
#define PROF_SYMBOL_DWARF_NAME_H

#include "symbol/dwarf_reader.h"

struct dwarf_function {
	const char *name; /* NULL: none */
	bool is_linkage_name;
	const char *decl_file; /* NULL: unknown */
	uint32_t decl_line;    /* 0: unknown */
};

/* Functions by the number that dwarf_names_add() gives them. */
struct dwarf_names {
	struct dwarf_reader *reader;
	struct dwarf_function *functions;
	size_t count, room;
	struct idmap ids; /* by offset of the entry, file */
	/* Names that lack those of the namespaces and types around them. */
	struct dwarf_unqualified *unqualified;
	size_t unqualified_count, unqualified_room;
};

void dwarf_names_init(struct dwarf_names *names, struct dwarf_reader *reader);
void dwarf_names_deinit(struct dwarf_names *names);

uint32_t dwarf_names_add(struct dwarf_names *names, struct dwarf_reference function);
/*
 * Once all are added, completes the names that are no linkage names: "space::type::name", as
 * demanglers write it. An entry does not say what it is in, so this takes a scan of each unit
 * concerned.
 */
void dwarf_names_qualify(struct dwarf_names *names);

#endif
