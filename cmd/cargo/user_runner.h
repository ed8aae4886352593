/*
 * Finds the runner that the user has configured for cargo: a program that cargo
 * starts instead of each program, with the program as its arguments. Source:
 * The Cargo Book, "Configuration", target.<triple>.runner.
 *
 * prof's runner replaces it and starts it. The process is sampled, so it must
 * finally execute the program itself: `sudo -E`, `taskset 1` and `env A=b` do,
 * an emulator does not.
 */
#ifndef PROF_CMD_CARGO_USER_RUNNER_H
#define PROF_CMD_CARGO_USER_RUNNER_H

#include "base/error.h"
#include "cmd/cargo/project.h"

/*
 * Adds the runner's command to *ret, or nothing if there is no such runner.
 * Fails if the runner does not execute the program itself, or if programs of
 * this triple cannot be sampled here.
 */
MUST_CHECK struct error *user_runner_find(const struct cargo_project *project, const char *triple,
					  struct string_list *ret);

#endif
