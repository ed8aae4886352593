/*
 * What the runner of `prof cargo` (runner.h) and prof (programs.h) say to each other
 * through a SOCK_SEQPACKET socket.
 *
 * A message is a packet of words, each with a NUL after it. The runner sends "NAME=VALUE" words for
 * program_name_variables, an empty one, and the program. The answer has words that change the
 * environment ("NAME": unset, "NAME=VALUE": set); if the program shall be recorded by the runner
 * itself, an empty word, outputs, an empty word, and options of prof cargo follow.
 */
#ifndef PROF_CMD_CARGO_MESSAGE_H
#define PROF_CMD_CARGO_MESSAGE_H

#define CARGO_RUNNER_NAME "prof-cargo-runner"
#define CARGO_RUNNER_SOCKET "socket" /* beside the runner */

/* Of a message, at most. */
enum { CARGO_MESSAGE_BYTES_MAX = 64 << 10 };

#endif
