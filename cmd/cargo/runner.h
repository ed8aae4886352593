/*
 * The runner of `prof cargo`, which cargo starts instead of each program.
 *
 *	DIRECTORY/prof-cargo-runner COUNT [WORD…] PROGRAM [ARGUMENT…]
 *
 * The runner sends the program to prof through the socket in its directory,
 * waits for the answer, and executes WORD… PROGRAM ARGUMENT…. The COUNT words
 * are the user's own runner. The environment is then that of a cargo without
 * prof, also for rustdoc's merged tests. If prof does not answer, the program
 * is executed anyway, and a line on stderr reports that it is not recorded.
 * message.h describes the messages.
 *
 * CARGO_XTASK (project.h) is executed without asking prof, and inherits the
 * runner. The programs that its cargo starts are recorded; the xtask and its
 * compilers are not.
 */
#ifndef PROF_CMD_CARGO_RUNNER_H
#define PROF_CMD_CARGO_RUNNER_H

#include <stdbool.h>

/* Returns true if prof was started as the runner. */
bool cargo_runner_is_meant(const char *program);

/* Returns an exit status if the program could not be executed or was recorded. */
int cargo_runner_run(int argc, char **argv);

#endif
