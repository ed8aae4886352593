/*
 * Types of a Rust program as its DWARF describes them: what a type consists of, by its offset in
 * .debug_info, and a pass over all entries that finds the few types, functions and variables that
 * a reader begins with.
 *
 * The pass keeps the names of scopes (24 bytes each); types are read when they are asked for.
 * Damaged DWARF costs what is damaged. For a confined process: the file is read as it is mapped.
 * Source: DWARF 5, 5.7 "Structure, Union, Class and Interface Types", 5.7.10 "Variant Parts"; how
 * rustc writes coroutines and enums: compiler/rustc_codegen_llvm/src/debuginfo/metadata/enums.
 */
#ifndef PROF_DWARF_TYPES_H
#define PROF_DWARF_TYPES_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

#include <stdint.h>

struct dwarf_types;

/* NULL if the file has no .debug_info. elf must outlive it. */
struct dwarf_types *dwarf_types_new(struct elf_file *elf);
void dwarf_types_free(struct dwarf_types *types);
DEFINE_CLEANUP(dwarf_types, dwarf_types_free)

/* An offset in .debug_info; 0: no type. */
typedef uint64_t dwarf_type_id;

enum { DWARF_TYPE_MEMBERS_MAX = 1024 };

struct dwarf_member {
	struct bytes name; /* `at` is NULL: none */
	dwarf_type_id type;
	uint64_t offset;
	const char *decl_file; /* of variants of a coroutine: the place of their await; else NULL */
	uint32_t decl_line;
};

struct dwarf_variant {
	bool is_default; /* of all values that no other variant has */
	uint64_t value;
	struct dwarf_member content;
};

enum dwarf_type_kind { DWARF_TYPE_OTHER, DWARF_TYPE_STRUCT, DWARF_TYPE_POINTER };

struct dwarf_type {
	enum dwarf_type_kind kind;
	struct bytes name; /* without its scopes */
	uint64_t size_bytes;
	dwarf_type_id target;	  /* of a pointer */
	dwarf_type_id containing; /* of the type of a vtable: whose it is */
	struct dwarf_member *members;
	size_t member_count;
	struct dwarf_member *parameters; /* type parameters; their offset is 0 */
	size_t parameter_count;
	struct dwarf_variant *variants;
	size_t variant_count;
	uint64_t discriminant_offset;
	unsigned discriminant_bytes; /* 0: a single variant, which has no discriminant */
};

/* False if there is no such entry. Arrays and paths are in an arena that lives as long as types. */
bool dwarf_types_read(struct dwarf_types *types, dwarf_type_id id, struct dwarf_type *ret);
/* NULL: it has no member of that name. */
const struct dwarf_member *dwarf_type_member(const struct dwarf_type *type, const char *name);
/* "tokio::time::sleep::Sleep"; only after the pass. NULL: unknown. */
const char *dwarf_types_name(struct dwarf_types *types, dwarf_type_id id);

enum dwarf_found_kind { DWARF_FOUND_STRUCT, DWARF_FOUND_FUNCTION, DWARF_FOUND_VARIABLE };

/* An entry with a name, as the pass finds it. */
struct dwarf_found {
	enum dwarf_found_kind kind;
	uint64_t offset; /* of a structure: its id */
	struct bytes name;
	struct bytes linkage_name; /* `at` is NULL: none */
	uint32_t scope;		   /* for dwarf_types_is_in() */
	dwarf_type_id type;	   /* of a variable */
	/* Where a variable is, or a function's code begins. */
	bool has_address, is_thread_local;
	uint64_t address; /* of thread-local ones: in the TLS segment */
	/* Of a function: the type of its first parameter; 0: none. */
	dwarf_type_id parameter;
	/* Of a function: its type parameters, up to two. */
	dwarf_type_id arguments[2];
};

/*
 * Calls found() for each structure, function and variable with a name in a unit of Rust. May be
 * called once.
 */
void dwarf_types_scan(struct dwarf_types *types,
		      void (*found)(void *user, const struct dwarf_found *found), void *user);
/* Whether the innermost scopes are those: is_in(types, scope, "task", "core", NULL) is true in
 * …::task::core. Names are without type parameters. */
bool dwarf_types_is_in(const struct dwarf_types *types, uint32_t scope, const char *outer,
		       const char *inner);

#endif
