/*
 * Reads names of functions and files with libdw. The names are copied into an
 * arena, because libdw's strings are valid only as long as its Dwarf and as
 * long as the file is unchanged.
 */
#ifndef PROF_SYMBOL_LIBDW_NAMES_H
#define PROF_SYMBOL_LIBDW_NAMES_H

#include "base/arena.h"
#include "base/idmap.h"
#include "symbol/libdw_walk.h"

struct libdw_function {
	const char *name; /* NULL if there is none */
	bool is_linkage_name;
	const char *plain_name;
	const char *decl_file;
	uint32_t decl_line;
};

/* All members are private. */
struct libdw_names {
	struct arena *arena;
	struct libdw_budget budget;
	struct idmap function_ids; /* by the address of the DIE */
	struct libdw_function *functions;
	size_t function_count, function_room;
	struct idmap string_ids; /* by the address of libdw's string */
	const char **strings;
	size_t string_count, string_room;
};

void libdw_names_init(struct libdw_names *names, struct arena *arena);
void libdw_names_deinit(struct libdw_names *names);

/*
 * Returns the names of a DIE of a function or of an inlined call. Valid until
 * the next call.
 */
const struct libdw_function *libdw_names_function(struct libdw_names *names, Dwarf_Die *entry);

/*
 * Returns the file with this number in the line table of a unit, or NULL if
 * there is none.
 */
const char *libdw_names_file(struct libdw_names *names, Dwarf_Die *unit, uint64_t file);
/*
 * Makes a path that libdw read from the unit absolute. libdw leaves files in
 * relative directories relative. Returns NULL if the path is unknown.
 */
const char *libdw_names_path(struct libdw_names *names, Dwarf_Die *unit, const char *path);

#endif
