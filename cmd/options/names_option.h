/*
 * The option --names, which chooses how much of function names is shown. By
 * default, tables have short names; files and JSON, which programs read, have
 * full names.
 */
#ifndef PROF_CMD_OPTIONS_NAMES_OPTION_H
#define PROF_CMD_OPTIONS_NAMES_OPTION_H

#include "cmd/ui/options.h"
#include "report/display_names.h"

struct names_option {
	bool is_given;
	enum name_style style;
};

/* Returns the requested style, or the default. */
enum name_style names_option_style(const struct names_option *option, enum name_style usual);

option_take names_option_take; /* struct names_option */

/* The entry of a table for struct `type`, which holds the names_option as `member`. */
#define NAMES_ENTRY(type, member, usual)                                                           \
	OPTION_ENTRY(SYMBOLS, 0, "names", "short|full|no-generics",                                \
		     "choose the style of function names (default " usual                          \
		     "); no-generics merges the "                                                  \
		     "instances of a generic function",                                            \
		     names_option_take, offsetof(type, member))
#define NAMES_OF_TABLES "short, full with --json"
#define NAMES_OF_FILES "full"

#endif
