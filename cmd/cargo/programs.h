/*
 * Records the programs that cargo starts: prof's side of the runner (runner.h).
 *
 * A directory that only this user may enter has a socket and a symbolic link to
 * prof, which is the runner. Cargo splits the runner's path at spaces; the path
 * of the link has none, wherever prof is installed. Each runner sends the
 * program that it will execute and waits for an answer, so that prof can start
 * to sample its process first. Only processes of the same user are answered.
 */
#ifndef PROF_CMD_CARGO_PROGRAMS_H
#define PROF_CMD_CARGO_PROGRAMS_H

#include "cmd/record/recording.h"
#include "cmd/string_list.h"

struct cargo_programs;

/* All members are borrowed. */
struct cargo_programs_options {
	/*
	 * Each program is recorded by a prof of its own, with the options
	 * `words`, into outputs whose names have %e in the place of the
	 * program's name. Otherwise it is added to the recording.
	 */
	bool each;
	const struct string_list *words, *outputs;
	/* Called when cargo starts its first program. */
	void (*on_first)(void *user);
	void *user;
};

/* Creates the directory and the socket. */
MUST_CHECK struct error *cargo_programs_new(const struct cargo_programs_options *options,
					    struct cargo_programs **ret);
/* Calls cargo_programs_close(). NULL is allowed. */
void cargo_programs_free(struct cargo_programs *programs);
DEFINE_CLEANUP(cargo_programs, cargo_programs_free)

/* Sets an environment variable of cargo that its programs do not inherit. */
void cargo_programs_set(struct cargo_programs *programs, const char *name, const char *value);
/* Makes cargo start the programs of a triple through the runner, which starts
 * the user's runner. */
void cargo_programs_run(struct cargo_programs *programs, const char *triple,
			const struct string_list *user_runner);

/* Answers runners while recording->loop runs. */
MUST_CHECK struct error *cargo_programs_open(struct cargo_programs *programs,
					     struct recording *recording);
/* Stops answering: programs that cargo starts from now on are not recorded. */
void cargo_programs_stop(struct cargo_programs *programs);
/* Stops, forgets the recording and removes the directory. Call it when cargo
 * has ended; calling it twice is allowed. */
void cargo_programs_close(struct cargo_programs *programs);

/* Returns the number of processes that have been answered so far. */
size_t cargo_programs_count(const struct cargo_programs *programs);
/* Returns the number of processes that may still be recorded, with `each`. */
size_t cargo_programs_running(const struct cargo_programs *programs);
/* Prints what was recorded, unless nothing was. */
void cargo_programs_say(const struct cargo_programs *programs);

#endif
