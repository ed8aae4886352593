#include "symbol/libdw_names.h"

#include "base/alloc.h"
#include "base/text.h"
#include "dwarf/name.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits for malformed files. They are the same as in dwarf/name.c. */
enum { HOPS_MAX = 8, SCOPES_MAX = 64, LIBDW_NAME_BYTES_MAX = 1 << 16, PATH_BYTES_MAX = 1 << 15 };

void libdw_names_init(struct libdw_names *names, struct arena *arena)
{
	*names = (struct libdw_names){.arena = arena, .budget = {.entries = UINT32_MAX}};
}

void libdw_names_deinit(struct libdw_names *names)
{
	free(names->functions);
	free(names->strings);
	idmap_deinit(&names->function_ids);
	idmap_deinit(&names->string_ids);
}

/* Returns the place for the arena's copy of one of libdw's strings. */
static const char **libdw_names_copy_of(struct libdw_names *names, const char *string)
{
	uint32_t *id = idmap_put(&names->string_ids, (uint64_t)(uintptr_t)string, 0);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)names->string_count;
		GROW(names->strings, names->string_count, names->string_room);
		names->strings[names->string_count++] = NULL;
	}
	return &names->strings[*id];
}

/*
 * Copies each string once. libdw's strings are valid only as long as its Dwarf
 * and as long as the file is unchanged.
 */
static const char *copy(struct libdw_names *names, const char *string)
{
	const char **ret;

	if (!string)
		return NULL;
	ret = libdw_names_copy_of(names, string);
	if (!*ret)
		*ret = arena_strndup(names->arena, string, strnlen(string, LIBDW_NAME_BYTES_MAX));
	return *ret;
}

/* A unit's own directory can also be relative, like those of glibc. */
static bool libdw_names_is_in(const char *path, const char *directory)
{
	size_t len = strlen(directory);

	return *directory != '/' && !strncmp(path, directory, len) && path[len] == '/';
}

const char *libdw_names_path(struct libdw_names *names, Dwarf_Die *unit, const char *path)
{
	const char **ret, *directory;
	Dwarf_Attribute attribute;
	char joined[PATH_BYTES_MAX];
	int len;

	/* There is no file 0 before DWARF 5. */
	if (!path || strcmp(path, "???") == 0)
		return NULL;
	ret = libdw_names_copy_of(names, path);
	if (*ret)
		return *ret;
	directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	if (*path == '/' || !directory || !*directory || libdw_names_is_in(path, directory))
		return copy(names, path);
	len = snprintf(joined, sizeof(joined), "%s%s%s", directory,
		       directory[strlen(directory) - 1] == '/' ? "" : "/", path);
	if (len < 0 || len >= (int)sizeof(joined))
		return NULL;
	return *ret = arena_strndup(names->arena, joined, (size_t)len);
}

static const char *libdw_names_string_of(struct libdw_names *names, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return copy(names, dwarf_formstring(dwarf_attr(die, name, &attribute)));
}

const char *libdw_names_file(struct libdw_names *names, Dwarf_Die *unit, uint64_t file)
{
	Dwarf_Files *files;
	size_t count;

	if (dwarf_getsrcfiles(unit, &files, &count) < 0 || file >= count)
		return NULL;
	return libdw_names_path(names, unit, dwarf_filesrc(files, file, NULL, NULL));
}

/* Returns a file by its number in the line table of the entry's unit. */
static const char *libdw_names_file_of(struct libdw_names *names, Dwarf_Die *die, uint64_t file)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) ? libdw_names_file(names, &unit, file) : NULL;
}

/*
 * The attributes of an entry and of the entries that it refers to. The first
 * value of each attribute is used.
 */
struct libdw_names_description {
	const char *name, *linkage_name;
	Dwarf_Die named_by; /* entry with the name */
	bool is_external;
	const char *decl_file;
	uint64_t decl_line;
};

static void libdw_names_describe(struct libdw_names *names, struct libdw_names_description *to,
				 Dwarf_Die *die)
{
	uint64_t file;

	if (!to->name && (to->name = libdw_names_string_of(names, die, DW_AT_name)))
		to->named_by = *die;
	if (!to->linkage_name)
		to->linkage_name = libdw_names_string_of(names, die, DW_AT_linkage_name);
	if (!to->linkage_name)
		to->linkage_name = libdw_names_string_of(names, die, DW_AT_MIPS_linkage_name);
	to->is_external |= dwarf_hasattr(die, DW_AT_external);
	if (!to->decl_file && libdw_number(die, DW_AT_decl_file, &file))
		to->decl_file = libdw_names_file_of(names, die, file);
	if (!to->decl_line && !libdw_number(die, DW_AT_decl_line, &to->decl_line))
		to->decl_line = 0;
}

static struct libdw_names_description libdw_names_description_of(struct libdw_names *names,
								 const Dwarf_Die *entry)
{
	struct libdw_names_description description = {0};
	Dwarf_Die die = *entry;

	for (unsigned hops = 0; hops < HOPS_MAX; hops++) {
		Dwarf_Attribute attribute;

		libdw_names_describe(names, &description, &die);
		if (!dwarf_attr(&die, DW_AT_abstract_origin, &attribute) &&
		    !dwarf_attr(&die, DW_AT_specification, &attribute))
			break;
		if (!dwarf_formref_die(&attribute, &die))
			break;
	}
	return description;
}

static bool is_flat(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return !dwarf_diecu(die, &unit, NULL, NULL) ||
	       dwarf_language_is_flat((uint64_t)dwarf_srclang(&unit));
}

static bool is_named_scope(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

/* Moves to the child that is the entry at the offset or contains it. */
static bool libdw_names_descend(struct libdw_names *names, Dwarf_Die *die, Dwarf_Off offset)
{
	Dwarf_Die child;
	bool any = false;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (dwarf_dieoffset(&child) > offset)
			break;
		*die = child;
		any = true;
	} while (libdw_next_sibling(&child, &names->budget));
	return any;
}

/*
 * Finds the namespaces, types and functions around an entry, outermost first.
 * Returns their number.
 */
static unsigned scopes_around(struct libdw_names *names, Dwarf_Die *entry,
			      Dwarf_Die around[SCOPES_MAX])
{
	const Dwarf_Off offset = dwarf_dieoffset(entry);
	unsigned count = 0;
	Dwarf_Die die;

	if (!dwarf_diecu(entry, &die, NULL, NULL))
		return 0;
	while (libdw_names_descend(names, &die, offset)) {
		if (dwarf_dieoffset(&die) == offset)
			return count;
		if (count < SCOPES_MAX && is_named_scope(dwarf_tag(&die)))
			around[count++] = die;
	}
	return 0;
}

static const char *libdw_names_scope_name(struct libdw_names *names, Dwarf_Die *die,
					  const char *inner)
{
	const char *name = libdw_names_description_of(names, die).name;

	if (name)
		return name;
	if (dwarf_tag(die) == DW_TAG_namespace)
		return "(anonymous namespace)";
	return text_begins(inner, "operator()") ? "{lambda}" : "{unnamed}";
}

/* Returns the name in the format of demanglers, "space::type::name". */
static const char *libdw_names_qualified(struct libdw_names *names, Dwarf_Die *entry,
					 const char *name)
{
	Dwarf_Die around[SCOPES_MAX];
	unsigned count = scopes_around(names, entry, around);
	const char *scopes[SCOPES_MAX];
	size_t len = strlen(name) + 1;
	char *ret, *end;

	for (unsigned i = 0; i < count; i++) {
		scopes[i] = libdw_names_scope_name(names, &around[i], name);
		len += strlen(scopes[i]) + strlen("::");
	}
	if (len > LIBDW_NAME_BYTES_MAX)
		return name;
	ret = end = arena_alloc(names->arena, len);
	for (unsigned i = 0; i < count; i++)
		end = stpcpy(stpcpy(end, scopes[i]), "::");
	strcpy(end, name);
	return ret;
}

static struct libdw_function libdw_names_read_function(struct libdw_names *names,
						       const Dwarf_Die *entry)
{
	struct libdw_names_description description = libdw_names_description_of(names, entry);
	struct libdw_function function = {
		.name = description.linkage_name ? description.linkage_name : description.name,
		.is_linkage_name = description.linkage_name,
		.plain_name = description.linkage_name ? description.name : NULL,
		.decl_file = description.decl_file,
		.decl_line = (uint32_t)description.decl_line,
	};

	/*
	 * With extern "C", an external function has no linkage name. Its plain
	 * name is complete.
	 */
	if (function.name && !function.is_linkage_name && !description.is_external &&
	    !is_flat(&description.named_by))
		function.name = libdw_names_qualified(names, &description.named_by, function.name);
	return function;
}

const struct libdw_function *libdw_names_function(struct libdw_names *names, Dwarf_Die *entry)
{
	uint32_t *id = idmap_put(&names->function_ids, (uint64_t)(uintptr_t)entry->addr, 0);

	if (*id == IDMAP_NONE) {
		*id = (uint32_t)names->function_count;
		GROW(names->functions, names->function_count, names->function_room);
		names->functions[names->function_count++] = libdw_names_read_function(names, entry);
		return &names->functions[names->function_count - 1];
	}
	return &names->functions[*id];
}
