/*
 * The runner of `prof cargo`: cargo starts it in the place of each program.
 *
 *	DIRECTORY/prof-cargo-runner COUNT [WORD…] PROGRAM [ARGUMENT…]
 *
 * It tells prof at the socket beside it what it will execute, waits for the answer, and executes
 * WORD… PROGRAM ARGUMENT…, where the COUNT words are the user's own runner. The environment is then
 * that of a cargo without prof, also for rustdoc's merged tests. A program runs whatever happens to
 * prof: if nobody answers, it is executed, and a line on stderr says that it is not recorded.
 * message.h has the messages.
 *
 * CARGO_XTASK (project.h) is executed without a question, and inherits the runner: what its cargo
 * starts is recorded, neither it nor its compilers.
 */
#ifndef PROF_CMD_CARGO_RUNNER_H
#define PROF_CMD_CARGO_RUNNER_H

#include <stdbool.h>

/* Whether prof was started as the runner. */
bool cargo_runner_is_meant(const char *program);

/* Returns an exit status if the program could not be executed or was recorded. */
int cargo_runner_run(int argc, char **argv);

#endif
