/*
 * Makes a recording with its outputs, summary and exit status, for `prof
 * record` and other commands.
 */
#ifndef PROF_CMD_RECORD_RECORD_H
#define PROF_CMD_RECORD_RECORD_H

#include "cmd/record/record_options.h"
#include "cmd/record/recording.h"

/*
 * The programs that a command such as cargo starts. Only they are recorded,
 * each from its recorder_add_command() on; the command itself is not. The
 * recording ends with the command.
 */
struct record_programs {
	/* Starts to wait for programs. Called before the command starts;
	 * recording->recorder is started before the command, too. */
	struct error *(*open)(void *user, struct recording *recording);
	/* Returns true if there was a program. Otherwise nothing is written or
	 * printed. */
	bool (*any)(const void *user);
	/* Prints what was recorded, before the summary. */
	void (*say)(const void *user);
	/* Called when sampling has ended. */
	void (*stop)(void *user);
	/* Called when the command has ended or was not started. May be called
	 * twice. */
	void (*close)(void *user);
	void *user;
};

struct record_job {
	struct record_options options; /* taken by record_run_job() */
	char **words;		       /* prof's command line */
	int word_count;
	char *const *command; /* ends with NULL; empty without a command */
	/* The path that names the process which executes it (program_name.h).
	 * If NULL, the kernel's name is used. */
	const char *program;
	const struct record_programs *programs; /* NULL if the command itself is recorded */
};

/* Makes the recording and prints all messages. Returns the exit status. Does
 * not return if a signal has ended the command. */
int record_run_job(struct record_job *job);

#endif
