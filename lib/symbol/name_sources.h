/*
 * The sources of the function names of a module, for messages about missing
 * symbols.
 */
#ifndef PROF_SYMBOL_NAME_SOURCES_H
#define PROF_SYMBOL_NAME_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A bit set of the sources that a module has, even if they contain none of the
 * addresses.
 */
enum name_source {
	NAMES_EXPORTED = 1 << 0,    /* .dynsym */
	NAMES_SYMTAB = 1 << 1,	    /* .symtab of the file or its debug file */
	NAMES_EMBEDDED = 1 << 2,    /* .gnu_debugdata */
	NAMES_GO = 1 << 3,	    /* .gopclntab */
	NAMES_DWARF = 1 << 4,	    /* .debug_info of the file or its debug file */
	NAMES_SPLIT_DWARF = 1 << 5, /* units in .dwo files or a .dwp file */
	NAMES_LIBDW = 1 << 6,	    /* units that were read by elfutils */
	NAMES_LISTED = 1 << 7,	    /* perf-PID.map */
	NAMES_JITDUMP = 1 << 8,
	NAMES_KERNEL = 1 << 9, /* kallsyms */
	NAMES_ALL = (1 << 10) - 1,
};

struct name_sources {
	uint32_t present;	/* bits */
	const char *debug_file; /* path of the separate debug file, or NULL */
	uint32_t split_units;	/* number of DWARF units in other files */
	/* Number of split units that were needed and not found. */
	uint32_t missing_units;
	/* The file of one missing unit when it was built, or NULL. */
	const char *missing_file;
	/* A part of the module was compiled by rustc, according to .comment. */
	bool is_rust;
};

#endif
