/*
 * A recording with its outputs, summary and exit status, as `prof record` makes it, for other
 * commands too.
 */
#ifndef PROF_CMD_RECORD_H
#define PROF_CMD_RECORD_H

#include "cmd/record_options.h"
#include "cmd/recording.h"

/*
 * Programs that a command such as cargo starts. Only they are recorded, each from its
 * recorder_add_command() on; the command itself is not. The recording ends with the command.
 */
struct record_programs {
	/* Begins to wait for programs. The command has not begun; recording->recorder will be
	 * started before it does. */
	struct error *(*open)(void *user, struct recording *recording);
	/* Whether there was one: otherwise nothing is written or printed. */
	bool (*any)(const void *user);
	/* Prints what was recorded, before the summary. */
	void (*say)(const void *user);
	/* Sampling has ended. */
	void (*stop)(void *user);
	/* The command has ended, or was not started. May be called twice. */
	void (*close)(void *user);
	void *user;
};

struct record_job {
	struct record_options options; /* taken by record_run_job() */
	char **words;		       /* prof's command line */
	int word_count;
	char *const *command; /* ends with NULL; empty: none */
	/* Its path, from which the process that executes it is named (program_name.h); NULL: as the
	 * kernel names it. */
	const char *program;
	const struct record_programs *programs; /* NULL: the command itself is recorded */
};

/* Returns the exit status, and prints all that there is to say. Does not return if a signal has
 * ended the command. */
int record_run_job(struct record_job *job);

#endif
