/* Prints the help of a command, from the texts and the option table in its struct command. */
#ifndef PROF_CMD_HELP_H
#define PROF_CMD_HELP_H

#include "cmd/command.h"
#include "cmd/ui/options.h"

/*
 * Prints what options_parse() reports as requested. GROUP_COMMON is one screen of at most 40 lines:
 * usage, all options if they fit, else the common ones, and examples. GROUP_ALL is usage, all
 * options by group, and the formats. A group alone is its options only. Returns STATUS_OK.
 */
int help_print(const struct command *command, enum option_group requested);

#endif
