/*
 * The runner that a user of cargo has chosen: a program that cargo starts in the place of each
 * program, which it gets as its arguments. Source: The Cargo Book, "Configuration",
 * target.<triple>.runner.
 *
 * prof's runner takes its place and starts it. What it then executes is sampled, so it must be the
 * program in the end: `sudo -E`, `taskset 1`, `env A=b` are, an emulator is not.
 */
#ifndef PROF_CMD_CARGO_USER_RUNNER_H
#define PROF_CMD_CARGO_USER_RUNNER_H

#include "base/error.h"
#include "cmd/cargo/project.h"

/* Adds its words to *ret: none if there is no such runner. Fails if it does not execute what it is
 * given, or if programs of this triple cannot be sampled here. */
MUST_CHECK struct error *user_runner_find(const struct cargo_project *project, const char *triple,
					  struct words *ret);

#endif
