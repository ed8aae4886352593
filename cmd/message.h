/*
 * The only place that prints to stderr. Everything that comes from outside (names of files,
 * programs, functions) passes through here, and control characters in it never reach the terminal.
 */
#ifndef PROF_CMD_MESSAGE_H
#define PROF_CMD_MESSAGE_H

#include "base/error.h"

#include <stdbool.h>

/* "prof: " and a line. */
__attribute__((format(printf, 1, 2))) void message(const char *fmt, ...);
/* A line without the prefix: tables. */
__attribute__((format(printf, 1, 2))) void message_row(const char *fmt, ...);
/* The error's chain and its hint. Takes err. */
void message_error(struct error *err);
/* The same; gives the status back, to return it. */
int message_failure(struct error *err, int status);

/* How wide the terminal is; 0: there is none, or it does not say. */
unsigned message_columns(void);

/* A line that the next one, of either kind, is written over; nothing where stderr is no terminal.
 */
__attribute__((format(printf, 1, 2))) void message_progress(const char *fmt, ...);
void message_progress_end(void);

#endif
