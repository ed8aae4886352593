/* Runs a program to its end and captures its output. */
#ifndef PROF_CMD_CARGO_CAPTURED_H
#define PROF_CMD_CARGO_CAPTURED_H

#include "base/error.h"

#include <stddef.h>

struct captured {
	char *out; /* its stdout, up to 64 MiB, with a NUL after it */
	size_t out_len;
	char *errors; /* its stderr, up to 64 KiB, with a NUL after it */
	int status;   /* as waitpid(2) gives it */
};
void captured_deinit(struct captured *captured);

/*
 * Runs argv, which ends with NULL. environment has "NAME=VALUE" strings to add
 * and ends with NULL. on_line is called for each line of stderr as it arrives;
 * it may be NULL. Fails if the program cannot be run; error_number() is then
 * its errno. Deinitialize *ret after success.
 */
MUST_CHECK struct error *captured_run(char *const *argv, char *const *environment,
				      void (*on_line)(const char *line), struct captured *ret);

#endif
