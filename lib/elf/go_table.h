/*
 * The table of functions that every Go program has for its tracebacks (.gopclntab), also without
 * symbols and DWARF (-ldflags="-s -w"): where it is, and its functions by address.
 *
 * Supports the layouts of Go 1.18 and later. The parts are read in the file itself, at each look
 * at them: it may change, so nothing is promised of what they say. The ELF file must outlive the
 * table. Source: runtime/symtab.go and runtime2.go (pcHeader, moduledata, _func),
 * cmd/link/internal/ld/pcln.go of Go.
 */
#ifndef PROF_ELF_GO_TABLE_H
#define PROF_ELF_GO_TABLE_H

#include "elf/elf_file.h"

/* What depends on the version of Go. */
struct go_layout {
	uint32_t magic;
	unsigned function_bytes; /* size of a _func, without its lists of tables */
	unsigned inlined_bytes;	 /* size of an inlinedCall */
	unsigned name_at, caller_at;
	unsigned start_line_at; /* offset of the start line in _func; 0: none */
	unsigned trees_word;	/* index of gofunc in moduledata */
};

struct go_table {
	const struct go_layout *layout;
	unsigned quantum;    /* bytes per unit of address (pc quantum) */
	unsigned word_bytes; /* of a pointer */
	uint32_t count;	     /* of functions, by address */
	uint64_t text;	     /* the vaddr that function addresses are relative to */
	struct bytes names;
	struct bytes units;	/* by compilation unit: offsets of its file names */
	struct bytes files;	/* file names */
	struct bytes values;	/* pc-value tables: lines, files, inlined calls */
	struct bytes functions; /* addresses and offsets of the descriptions, then the descriptions
				   (_func) */
	struct bytes trees;	/* trees of inlined calls */
};

/* False if the file is not a Go program or has an unknown layout. */
bool go_table_open(struct go_table *table, struct elf_file *elf);

/* Where a function starts, from `text`; of number `count`: where the last one ends. */
uint32_t go_table_start(const struct go_table *table, uint32_t index);
/* The function at an offset from `text`; `count` if there is none. */
uint32_t go_table_find(const struct go_table *table, uint64_t offset);
/* Its description (_func) and its name; empty if the table does not have them. */
struct bytes go_table_description(const struct go_table *table, uint32_t index);
struct bytes go_table_name(const struct go_table *table, uint32_t index);
/*
 * The value, in the pc-value table at this offset in `values`, at an offset from the function's
 * start; -1 if there is none.
 */
int32_t go_table_value(const struct go_table *table, uint32_t values, uint64_t offset);

#endif
