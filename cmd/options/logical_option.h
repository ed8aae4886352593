/*
 * The option --logical, which chooses the logical view (report/logical.h).
 * Tables for people show it by default where most frames are a runtime's.
 * Files, JSON and comparisons, which programs read, never do.
 */
#ifndef PROF_CMD_OPTIONS_LOGICAL_OPTION_H
#define PROF_CMD_OPTIONS_LOGICAL_OPTION_H

#include "cmd/ui/options.h"

enum logical_option { LOGICAL_DEFAULT, LOGICAL_YES, LOGICAL_NO };

option_take logical_option_take; /* enum logical_option */

/* The entry of a table for struct `type`, which holds the logical_option as `member`. */
#define LOGICAL_ENTRY(type, member, usual)                                                         \
	OPTION_COMMON(SELECTION, 0, "logical", "[yes|no]",                                         \
		      "hide runtime frames (tokio, rayon, std, Go); folds them into the "          \
		      "functions of the program that they lead to (default " usual ")",            \
		      logical_option_take, offsetof(type, member))
#define LOGICAL_OF_TABLES "yes if most frames are a runtime's"
#define LOGICAL_OF_FILES "no"

#endif
