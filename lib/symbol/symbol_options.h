/*
 * The user's options for symbolization. Zero-initialized options are the
 * defaults.
 */
#ifndef PROF_SYMBOL_SYMBOL_OPTIONS_H
#define PROF_SYMBOL_SYMBOL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* The DWARF reader to use. */
enum symbolizer_choice {
	/* Own reader (dwarf/dwarf.h), libdw for what it does not support. */
	SYMBOLIZER_AUTO,
	SYMBOLIZER_FAST,  /* only the own reader */
	SYMBOLIZER_LIBDW, /* only libdw */
};

/* All strings are borrowed. */
struct symbol_options {
	/* Directory of separate debug files. NULL for /usr/lib/debug. */
	const char *debug_dir;
	bool no_inlines;   /* only physical functions, without lines */
	bool kernel_lines; /* also lines and inlined functions of the kernel */
	enum symbolizer_choice symbolizer;
	/*
	 * URLs of debuginfod servers, separated by blanks. "no" disables
	 * debuginfod, NULL means $DEBUGINFOD_URLS. Only for commands that
	 * symbolize once, at the end.
	 */
	const char *debuginfod;
	uint64_t debuginfod_ns; /* timeout for all downloads together; 0 for 30 s */
};

#endif
