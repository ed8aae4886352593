/*
 * Prints messages. Only this module prints to stderr. It makes all text
 * printable, so control characters in names of files, programs and functions
 * never reach the terminal.
 */
#ifndef PROF_CMD_UI_MESSAGE_H
#define PROF_CMD_UI_MESSAGE_H

#include "base/error.h"

#include <stdbool.h>

/* Prints a line with the prefix "prof: ". */
__attribute__((format(printf, 1, 2))) void message(const char *fmt, ...);
/* Prints a line without the prefix, for tables. */
__attribute__((format(printf, 1, 2))) void message_row(const char *fmt, ...);
/* Prints the error and its hint. Takes err. */
void message_error(struct error *err);
/* Like message_error(). Returns the exit status of the error. */
int message_failure(struct error *err);
/* Like message_error(), for commands with statuses of their own. Returns the
 * status. */
int message_failure_as(struct error *err, int status);

/* Returns the width of the terminal on stderr, or 0 if it is unknown or stderr
 * is not a terminal. */
unsigned message_columns(void);

/* Prints a line that the next message overwrites; does nothing if stderr is not a terminal. */
__attribute__((format(printf, 1, 2))) void message_progress(const char *fmt, ...);
void message_progress_end(void);

#endif
