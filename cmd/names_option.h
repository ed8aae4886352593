/*
 * The option --names: how much of the names of functions is shown. Without it tables have short
 * names, and files and JSON, which programs read, have full ones.
 */
#ifndef PROF_CMD_NAMES_OPTION_H
#define PROF_CMD_NAMES_OPTION_H

#include "cmd/ui/options.h"
#include "report/display_names.h"

struct names_option {
	bool is_given;
	enum name_style style;
};

/* The style that was asked for, or the default. */
enum name_style names_option_style(const struct names_option *option, enum name_style usual);

option_take names_option_take; /* struct names_option */

/* The entry of a table for struct `type`, which holds the names_option as `member`. */
#define NAMES_ENTRY(type, member, usual)                                                           \
	OPTION_ENTRY(0, "names", "short|full|no-generics",                                         \
		     "show names short, in full, or short with the instances of generic "          \
		     "functions added up (default " usual ")",                                     \
		     names_option_take, offsetof(type, member))
#define NAMES_OF_TABLES "short; full with --json"
#define NAMES_OF_FILES "full"

#endif
