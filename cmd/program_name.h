/*
 * Names the programs that cargo starts, for people and for files: `parser` for
 * target/release/deps/parser-3f9a8b7c12345678, and for a nextest test the name
 * of the test.
 */
#ifndef PROF_CMD_PROGRAM_NAME_H
#define PROF_CMD_PROGRAM_NAME_H

#include "cmd/string_list.h"

/* Returns the name of a program's file without cargo's hash. The caller frees
 * it. */
char *program_name(const char *path);

/* Returns the name that the kernel gives to a process that executes the
 * program. The caller frees it. */
char *program_comm(const char *path);

/*
 * Returns a name for a process's profile, which has only letters, digits and
 * "._-". The caller frees it. environment has "NAME=VALUE" strings of the
 * process; those of cargo and nextest matter. taken has the names of other
 * processes; the new name is different and is added.
 */
char *program_profile_name(const char *path, const struct string_list *environment,
			   struct string_list *taken);

/* The variables that environment should contain. Ends with NULL. */
extern const char *const program_name_variables[];

#endif
