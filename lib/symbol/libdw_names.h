/*
 * Names of functions and files, as libdw reads them: copies in an arena, since libdw's strings live
 * as long as its Dwarf, and as long as the file is unchanged.
 */
#ifndef PROF_SYMBOL_LIBDW_NAMES_H
#define PROF_SYMBOL_LIBDW_NAMES_H

#include "base/arena.h"
#include "base/idmap.h"
#include "symbol/libdw_walk.h"

struct libdw_function {
	const char *name; /* NULL: none */
	bool is_linkage_name;
	const char *plain_name;
	const char *decl_file;
	uint32_t decl_line;
};

/* All private. */
struct libdw_names {
	struct arena *arena;
	struct libdw_budget budget;
	struct idmap function_ids; /* by the entry's address */
	struct libdw_function *functions;
	size_t function_count, function_room;
	struct idmap string_ids; /* by the address of libdw's string */
	const char **strings;
	size_t string_count, string_room;
};

void libdw_names_init(struct libdw_names *names, struct arena *arena);
void libdw_names_deinit(struct libdw_names *names);

/* What an entry of a function, or of a call of one, says. Valid until the next call. */
const struct libdw_function *libdw_names_function(struct libdw_names *names, Dwarf_Die *entry);

/* A file by its number in the line table of a unit. NULL if it has no such file. */
const char *libdw_names_file(struct libdw_names *names, Dwarf_Die *unit, uint64_t file);
/*
 * A path that libdw has from the unit, whole: it leaves files of relative directories relative.
 * NULL if it is unknown.
 */
const char *libdw_names_path(struct libdw_names *names, Dwarf_Die *unit, const char *path);

#endif
