/* The options of commands that symbolize. */
#ifndef PROF_CMD_OPTIONS_SYMBOL_ENTRIES_H
#define PROF_CMD_OPTIONS_SYMBOL_ENTRIES_H

#include "cmd/ui/options.h"
#include "symbol/symbol_options.h"

/* The entries of a table for struct `type`, which holds the symbol_options as `member`. */
#define SYMBOL_ENTRIES(type, member)                                                               \
	OPTION_ENTRY(SYMBOLS, 0, "no-inline", NULL,                                                \
		     "use symbol tables only, without lines and inlined functions", option_true,   \
		     offsetof(type, member.no_inlines)),                                           \
		OPTION_ENTRY(SYMBOLS, 0, "debug-dir", "DIR",                                       \
			     "search DIR for separate debug files (default /usr/lib/debug)",       \
			     option_string, offsetof(type, member.debug_dir)),                     \
		OPTION_ENTRY(SYMBOLS, 0, "kernel-lines", NULL,                                     \
			     "show source lines and inlined functions of the kernel; from "        \
			     "vmlinux and modules "                                                \
			     "with debug information",                                             \
			     option_true, offsetof(type, member.kernel_lines)),                    \
		OPTION_ENTRY(SYMBOLS, 0, "symbolizer", "auto|fast|libdw",                          \
			     "choose the DWARF reader (default auto); auto is built-in and falls " \
			     "back to "                                                            \
			     "elfutils, fast is built-in only, libdw is elfutils only",            \
			     take_symbolizer, offsetof(type, member.symbolizer))

/* Stores an enum symbolizer_choice. */
option_take take_symbolizer;

/* Further entries for commands that symbolize once, at the end. */
#define DEBUGINFOD_ENTRIES(type, member)                                                           \
	OPTION_ENTRY(                                                                              \
		SYMBOLS, 0, "debuginfod", "URL",                                                   \
		"download missing debug information from URL; no disables downloads (default "     \
		"$DEBUGINFOD_URLS)",                                                               \
		option_string, offsetof(type, member.debuginfod)),                                 \
		OPTION_ENTRY(SYMBOLS, 0, "debuginfod-time", "SECONDS",                             \
			     "continue without downloads after SECONDS (default 30)", option_time, \
			     offsetof(type, member.debuginfod_ns))

#endif
