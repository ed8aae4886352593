/*
 * Reads Go's function table (.gopclntab): finds it in the file, and finds
 * functions by address. Every Go program has this table for its tracebacks,
 * even without symbols and DWARF (-ldflags="-s -w").
 *
 * Supports the layouts of Go 1.18 and later. Every access reads the file
 * itself, which may change, so the contents are not guaranteed to be
 * consistent. The ELF file must outlive the table.
 *
 * Source: runtime/symtab.go and runtime2.go (pcHeader, moduledata, _func),
 * cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef PROF_ELF_GO_TABLE_H
#define PROF_ELF_GO_TABLE_H

#include "elf/elf_file.h"

/* The properties that depend on the version of Go. */
struct go_layout {
	uint32_t magic;
	unsigned function_bytes; /* size of a _func, without its lists of tables */
	unsigned inlined_bytes;	 /* size of an inlinedCall */
	unsigned name_at, caller_at;
	unsigned start_line_at; /* offset of the start line in _func, or 0 */
	unsigned trees_word;	/* index of gofunc in moduledata */
};

struct go_table {
	const struct go_layout *layout;
	unsigned quantum;    /* address granularity in bytes (pc quantum) */
	unsigned word_bytes; /* size of a pointer */
	uint32_t count;	     /* number of functions */
	uint64_t text;	     /* vaddr that function addresses are relative to */
	struct bytes names;
	struct bytes units;  /* by compilation unit: offsets of its file names */
	struct bytes files;  /* file names */
	struct bytes values; /* pc-value tables: lines, files, inlined calls */
	/*
	 * Addresses and offsets of the function descriptions (_func), followed
	 * by the descriptions.
	 */
	struct bytes functions;
	struct bytes trees; /* trees of inlined calls */
};

/*
 * Returns false if the file is not a Go program or the table's layout is
 * unknown.
 */
bool go_table_open(struct go_table *table, struct elf_file *elf);

/*
 * Returns the start of a function relative to `text`. For index `count`,
 * returns the end of the last function.
 */
uint32_t go_table_start(const struct go_table *table, uint32_t index);
/*
 * Returns the index of the function at an offset from `text`, or `count` if
 * there is none.
 */
uint32_t go_table_find(const struct go_table *table, uint64_t offset);
/*
 * These return a function's description (_func) and its name, or nothing if the
 * table does not contain them.
 */
struct bytes go_table_description(const struct go_table *table, uint32_t index);
struct bytes go_table_name(const struct go_table *table, uint32_t index);
/*
 * Returns the value at an offset from the function's start in the pc-value
 * table at offset `values`, or -1 if there is none.
 */
int32_t go_table_value(const struct go_table *table, uint32_t values, uint64_t offset);

#endif
