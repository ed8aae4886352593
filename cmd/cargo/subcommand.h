/*
 * prof as a subcommand of cargo. For `cargo with-prof ARGUMENT…`, cargo starts
 * `cargo-with-prof with-prof ARGUMENT…`. A prof of this name runs `prof cargo ARGUMENT…`.
 */
#ifndef PROF_CMD_CARGO_SUBCOMMAND_H
#define PROF_CMD_CARGO_SUBCOMMAND_H

#include <stdbool.h>

/* Returns whether prof was started as the subcommand. */
bool cargo_subcommand_is_meant(const char *program);

/* Returns the exit status. Changes argv. */
int cargo_subcommand_run(int argc, char **argv);

#endif
