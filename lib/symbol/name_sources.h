/* Where the names of a module's functions come from, for whoever says what is missing. */
#ifndef PROF_SYMBOL_NAME_SOURCES_H
#define PROF_SYMBOL_NAME_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

/* The sources that a module has, as a set of bits, whether or not an address was found in them. */
enum name_source {
	NAMES_EXPORTED = 1 << 0,    /* .dynsym */
	NAMES_SYMTAB = 1 << 1,	    /* .symtab, of the file or of its debug file */
	NAMES_EMBEDDED = 1 << 2,    /* .gnu_debugdata */
	NAMES_GO = 1 << 3,	    /* .gopclntab */
	NAMES_DWARF = 1 << 4,	    /* .debug_info, of the file or of its debug file */
	NAMES_SPLIT_DWARF = 1 << 5, /* units in .dwo files or a .dwp file */
	NAMES_LIBDW = 1 << 6,	    /* units that elfutils read */
	NAMES_LISTED = 1 << 7,	    /* perf-PID.map */
	NAMES_JITDUMP = 1 << 8,
	NAMES_KERNEL = 1 << 9, /* kallsyms */
	NAMES_ALL = (1 << 10) - 1,
};

struct name_sources {
	uint32_t present;	  /* bits */
	const char *debug_file;	  /* the separate debug file's path; NULL: none was found */
	uint32_t split_units;	  /* DWARF units that are in other files … */
	uint32_t missing_units;	  /* … of which those that were asked for and not found … */
	const char *missing_file; /* … and where the file of one was built; or NULL */
	bool is_rust;		  /* rustc has compiled some of it, as .comment says */
};

#endif
