/*
 * prof cargo --each: each process that cargo starts is recorded by its runner, which becomes a prof
 * record; prof cargo itself records nothing.
 */
#ifndef PROF_CMD_CARGO_EACH_H
#define PROF_CMD_CARGO_EACH_H

#include "cmd/cargo/options.h"
#include "cmd/cargo/programs.h"

/*
 * The outputs that the options name, as absolute paths with %e: profiles/%e.pb.gz by default, and
 * DIR/%e.pb.gz for a directory, with the extension of --format. Makes their directories. Fails on a
 * name without %e.
 */
MUST_CHECK struct error *cargo_each_outputs(const struct output_options *options,
					    struct words *ret);

/* Runs cargo to its end, and waits for its programs. Returns the exit status. Does not return if a
 * signal has ended cargo. */
int cargo_each_run(struct cargo_programs *programs, char *const *command, bool quiet);

/* In the runner: records the command, which executes the program, as prof's answer says from the
 * word `at` on (message.h). Returns the exit status. */
int cargo_each_record(const struct words *answer, size_t at, char *const *command,
		      const char *program);

#endif
