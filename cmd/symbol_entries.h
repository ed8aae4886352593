/* The options of commands that symbolize. */
#ifndef PROF_CMD_SYMBOL_ENTRIES_H
#define PROF_CMD_SYMBOL_ENTRIES_H

#include "cmd/ui/options.h"
#include "symbol/symbol_options.h"

/* The entries of a table for struct `type`, which holds the symbol_options as `member`. */
#define SYMBOL_ENTRIES(type, member)                                                               \
	OPTION_ENTRY(0, "no-inline", NULL,                                                         \
		     "symbolize from symbol tables only, without lines and inlined calls",         \
		     option_true, offsetof(type, member.no_inlines)),                              \
		OPTION_ENTRY(0, "debug-dir", "DIR",                                                \
			     "look for separate debug files in DIR (default /usr/lib/debug)",      \
			     option_string, offsetof(type, member.debug_dir)),                     \
		OPTION_ENTRY(0, "kernel-lines", NULL,                                              \
			     "show lines and inlined functions of the kernel, from its vmlinux "   \
			     "and modules with debug information",                                 \
			     option_true, offsetof(type, member.kernel_lines)),                    \
		OPTION_ENTRY(0, "symbolizer", "auto|fast|libdw",                                   \
			     "read DWARF with prof's own reader and what it does not understand "  \
			     "with elfutils (default auto), or with one of the two",               \
			     take_symbolizer, offsetof(type, member.symbolizer))

/* Stores an enum symbolizer_choice. */
option_take take_symbolizer;

/* The same for those that symbolize once, at the end. */
#define DEBUGINFOD_ENTRIES(type, member)                                                           \
	OPTION_ENTRY(0, "debuginfod", "URL",                                                       \
		     "download missing debug information from URL, or from no server with no "     \
		     "(default $DEBUGINFOD_URLS)",                                                 \
		     option_string, offsetof(type, member.debuginfod)),                            \
		OPTION_ENTRY(0, "debuginfod-time", "SECONDS",                                      \
			     "go on without downloads after SECONDS (default 30)", option_time,    \
			     offsetof(type, member.debuginfod_ns))

#endif
