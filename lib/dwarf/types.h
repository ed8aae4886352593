/*
 * Reads the types of a Rust program from its DWARF. A type is identified by its
 * offset in .debug_info. A pass over all entries finds the types, functions and
 * variables that a caller starts with.
 *
 * The pass keeps the names of scopes; types are read on demand. Malformed
 * entries are skipped. Only for a confined process, because the file is read as
 * it is mapped.
 *
 * Source: DWARF 5, 5.7 "Structure, Union, Class and Interface Types", 5.7.10
 * "Variant Parts"; for coroutines and enums of rustc:
 * compiler/rustc_codegen_llvm/src/debuginfo/metadata/enums.
 */
#ifndef PROF_DWARF_TYPES_H
#define PROF_DWARF_TYPES_H

#include "base/arena.h"
#include "base/cleanup.h"
#include "elf/elf_file.h"

#include <stdint.h>

struct dwarf_types;

/*
 * Returns NULL if the file has no .debug_info. `elf` must outlive the result.
 */
struct dwarf_types *dwarf_types_new(struct elf_file *elf);
void dwarf_types_free(struct dwarf_types *types);
DEFINE_CLEANUP(dwarf_types, dwarf_types_free)

/* An offset in .debug_info, or 0 for no type. */
typedef uint64_t dwarf_type_id;

enum { DWARF_TYPE_MEMBERS_MAX = 1024 };

struct dwarf_member {
	struct bytes name; /* `at` is NULL if it has no name */
	dwarf_type_id type;
	uint64_t offset;
	/*
	 * For variants of a coroutine: the place of the await. Otherwise NULL.
	 */
	const char *decl_file;
	uint32_t decl_line;
};

struct dwarf_variant {
	bool is_default; /* for all values that no other variant has */
	uint64_t value;
	struct dwarf_member content;
};

enum dwarf_type_kind { DWARF_TYPE_OTHER, DWARF_TYPE_STRUCT, DWARF_TYPE_POINTER };

struct dwarf_type {
	enum dwarf_type_kind kind;
	struct bytes name; /* without its scopes */
	uint64_t size_bytes;
	dwarf_type_id target; /* of a pointer */
	/* For the type of a vtable: the type that it belongs to. */
	dwarf_type_id containing;
	struct dwarf_member *members;
	size_t member_count;
	struct dwarf_member *parameters; /* type parameters; their offset is 0 */
	size_t parameter_count;
	struct dwarf_variant *variants;
	size_t variant_count;
	uint64_t discriminant_offset;
	/* 0 for a single variant, which has no discriminant. */
	unsigned discriminant_bytes;
};

/*
 * Returns false if there is no such entry. Arrays and paths are valid as long
 * as `types`.
 */
bool dwarf_types_read(struct dwarf_types *types, dwarf_type_id id, struct dwarf_type *ret);
/* Returns NULL if the type has no member of that name. */
const struct dwarf_member *dwarf_type_member(const struct dwarf_type *type, const char *name);
/*
 * Returns the qualified name, "tokio::time::sleep::Sleep", or NULL if unknown.
 * Call only after the pass.
 */
const char *dwarf_types_name(struct dwarf_types *types, dwarf_type_id id);

enum dwarf_found_kind { DWARF_FOUND_STRUCT, DWARF_FOUND_FUNCTION, DWARF_FOUND_VARIABLE };

/* A named entry that the pass has found. */
struct dwarf_found {
	enum dwarf_found_kind kind;
	uint64_t offset; /* for a structure, its type id */
	struct bytes name;
	struct bytes linkage_name; /* `at` is NULL if it has none */
	uint32_t scope;		   /* for dwarf_types_is_in() */
	dwarf_type_id type;	   /* of a variable */
	/* The address of a variable or of a function's code. */
	bool has_address, is_thread_local;
	uint64_t address; /* of a thread-local variable: in the TLS segment */
	/* For a function: the type of its first parameter, or 0. */
	dwarf_type_id parameter;
	/* For a function: its first two type parameters. */
	dwarf_type_id arguments[2];
};

/*
 * Calls found() for each named structure, function and variable in a Rust unit.
 * May be called once.
 */
void dwarf_types_scan(struct dwarf_types *types,
		      void (*found)(void *user, const struct dwarf_found *found), void *user);
/*
 * Returns true if the two innermost scopes have these names: is_in(types,
 * scope, "task", "core", NULL) is true in …::task::core. Names are compared
 * without type parameters.
 */
bool dwarf_types_is_in(const struct dwarf_types *types, uint32_t scope, const char *outer,
		       const char *inner);

#endif
