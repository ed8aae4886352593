/*
 * The messages between the runner of `prof cargo` (runner.h) and prof
 * (programs.h), which are sent through a SOCK_SEQPACKET socket.
 *
 * A message is a packet of strings, each terminated by a NUL. The runner sends
 * "NAME=VALUE" strings for program_name_variables, an empty string, and the
 * program. The answer has strings that change the environment: "NAME" unsets
 * and "NAME=VALUE" sets a variable. If the runner itself is to record the
 * program, these follow: an empty string, outputs, an empty string, and options
 * of prof cargo.
 */
#ifndef PROF_CMD_CARGO_MESSAGE_H
#define PROF_CMD_CARGO_MESSAGE_H

#define CARGO_RUNNER_NAME "prof-cargo-runner"
#define CARGO_RUNNER_SOCKET "socket" /* in the runner's directory */

/* The maximum size of a message. */
enum { CARGO_MESSAGE_BYTES_MAX = 64 << 10 };

#endif
