/*
 * Becomes another program: of commands of prof that prepare one and leave.
 */
#ifndef PROF_CMD_EXECUTE_H
#define PROF_CMD_EXECUTE_H

/* Executes argv, looked up in PATH. Returns only if that fails: the status to exit with, after a
 * message. */
int execute(char *const *command);

#endif
