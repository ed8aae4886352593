/*
 * Names of the programs that cargo starts, for people and for files: `parser` for
 * target/release/deps/parser-3f9a8b7c12345678, and of a test of nextest its own name.
 */
#ifndef PROF_CMD_PROGRAM_NAME_H
#define PROF_CMD_PROGRAM_NAME_H

#include "cmd/words.h"

/* The name of a program's file without cargo's hash; to be freed. */
char *program_name(const char *path);

/* The name that the kernel gives a process which executes it; to be freed. */
char *program_comm(const char *path);

/*
 * The name of a process's profile, to be freed: of letters, digits and "._-" alone. environment:
 * "NAME=VALUE" words of the process, of which those of cargo and nextest matter. taken: the names
 * that other processes have; the result is another one, and is added.
 */
char *program_profile_name(const char *path, const struct words *environment, struct words *taken);

/* The variables that environment should have; ends with NULL. */
extern const char *const program_name_variables[];

#endif
