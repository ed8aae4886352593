/*
 * Executes another program in the place of prof, for commands that only prepare
 * one.
 */
#ifndef PROF_CMD_EXECUTE_H
#define PROF_CMD_EXECUTE_H

/* Executes argv, which is looked up in PATH. Returns only on failure, after a
 * message: the exit status. */
int execute(char *const *command);

#endif
