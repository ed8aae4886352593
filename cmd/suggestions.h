/* Commands to start with, for a user at a terminal who has given none. */
#ifndef PROF_CMD_SUGGESTIONS_H
#define PROF_CMD_SUGGESTIONS_H

#include <stdbool.h>

/* Returns whether stdin, stdout and stderr are terminals. */
bool suggestions_are_possible(void);

/*
 * Prints five commands that suit this directory, this machine and what it does now. problem: the
 * first line, such as "no command given". Returns STATUS_USAGE.
 */
int suggestions_print(const char *problem);

#endif
