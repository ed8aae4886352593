/*
 * Implements prof cargo --each. The runner of each process that cargo starts
 * becomes a prof record of its own; prof cargo itself records nothing.
 */
#ifndef PROF_CMD_CARGO_EACH_H
#define PROF_CMD_CARGO_EACH_H

#include "cmd/cargo/options.h"
#include "cmd/cargo/programs.h"

/*
 * Stores the outputs that the options name, as absolute paths with %e:
 * profiles/%e.pb.gz by default, and DIR/%e.pb.gz (or the extension of --format)
 * for a directory. Creates their directories. Fails on a name without %e.
 */
MUST_CHECK struct error *cargo_each_outputs(const struct output_options *options,
					    struct string_list *ret);

/* Runs cargo to its end and waits for its programs. Returns the exit status.
 * Does not return if a signal has ended cargo. */
int cargo_each_run(struct cargo_programs *programs, char *const *command, bool quiet);

/*
 * Records the command, which executes the program. Called in the runner. The
 * strings of prof's answer from index `at` on determine how (message.h).
 * Returns the exit status.
 */
int cargo_each_record(const struct string_list *answer, size_t at, char *const *command,
		      const char *program);

#endif
