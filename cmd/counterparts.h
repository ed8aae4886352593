/*
 * Maps the commands and options of other profilers to those of prof: of perf, cargo-flamegraph,
 * samply, heaptrack, py-spy and the tools of bcc.
 */
#ifndef PROF_CMD_COUNTERPARTS_H
#define PROF_CMD_COUNTERPARTS_H

struct option_entry;

/*
 * Returns a line for the words after "prof", such as {"stat", "./app", NULL}. The caller frees it.
 * Returns NULL if no other profiler has such a command.
 */
char *counterpart_of_command(char *const *words);

/*
 * Returns a line for an option that a command of prof does not have. entries: the options of the
 * command. Returns NULL if it has no counterpart.
 */
const char *counterpart_of_option(const struct option_entry *entries, const char *option);

#endif
