/* Which sources frames are symbolized from, as the user chose. Zero: the defaults. */
#ifndef PROF_SYMBOL_SYMBOL_OPTIONS_H
#define PROF_SYMBOL_SYMBOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* How DWARF is read. */
enum symbolizer_choice {
	SYMBOLIZER_AUTO,  /* by our own reader (dwarf/dwarf.h); by libdw what it does not understand
			   */
	SYMBOLIZER_FAST,  /* by our own reader alone */
	SYMBOLIZER_LIBDW, /* by libdw alone */
};

/* Strings are borrowed. */
struct symbol_options {
	const char *debug_dir; /* where separate debug files are; NULL: /usr/lib/debug */
	bool no_inlines;       /* physical functions only, without lines */
	bool kernel_lines;     /* lines and inlined functions of the kernel, too */
	enum symbolizer_choice symbolizer;
	/*
	 * URLs of debuginfod servers, separated by blanks; "no": none is asked; NULL:
	 * $DEBUGINFOD_URLS. For commands that symbolize once, at the end.
	 */
	const char *debuginfod;
	uint64_t debuginfod_ns; /* how long all downloads may take; 0: 30 s */
};

#endif
