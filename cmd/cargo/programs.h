/*
 * The programs that cargo starts: prof's side of their runner (runner.h).
 *
 * A directory that only this user may enter has a socket and a link to prof, which is the runner.
 * Cargo splits the runner's path at spaces; that of the link has none, wherever prof is. Each
 * runner says what it will execute and waits for an answer, so that prof can begin to sample its
 * process before; only processes of the same user are answered.
 */
#ifndef PROF_CMD_CARGO_PROGRAMS_H
#define PROF_CMD_CARGO_PROGRAMS_H

#include "cmd/recording.h"
#include "cmd/words.h"

struct cargo_programs;

/* All borrowed. */
struct cargo_programs_options {
	/* Each program is recorded by a prof of its own: with the options `words`, into outputs
	 * whose names have %e where that of the program belongs. Else it is added to the recording.
	 */
	bool each;
	const struct words *words, *outputs;
	/* Called when cargo starts its first program. */
	void (*on_first)(void *user);
	void *user;
};

/* Makes directory and socket. */
MUST_CHECK struct error *cargo_programs_new(const struct cargo_programs_options *options,
					    struct cargo_programs **ret);
/* NULL is allowed. Calls cargo_programs_close(). */
void cargo_programs_free(struct cargo_programs *programs);
DEFINE_CLEANUP(cargo_programs, cargo_programs_free)

/* Sets a variable of the environment that cargo, but no program, is to have. */
void cargo_programs_set(struct cargo_programs *programs, const char *name, const char *value);
/* Lets cargo start the programs of a triple through the runner, and that through the user's. */
void cargo_programs_run(struct cargo_programs *programs, const char *triple,
			const struct words *user_runner);

/* Answers runners while recording->loop runs. */
MUST_CHECK struct error *cargo_programs_open(struct cargo_programs *programs,
					     struct recording *recording);
/* Answers no more: programs that cargo starts from now on are not recorded. */
void cargo_programs_stop(struct cargo_programs *programs);
/* Stops, forgets the recording and removes the directory: for when cargo has ended. May be called
 * twice. */
void cargo_programs_close(struct cargo_programs *programs);

/* How many processes have been answered so far. */
size_t cargo_programs_count(const struct cargo_programs *programs);
/* Of `each`: how many of them may still be recorded. */
size_t cargo_programs_running(const struct cargo_programs *programs);
/* Prints what was recorded, unless that is nothing. */
void cargo_programs_say(const struct cargo_programs *programs);

#endif
